#include "simulate/transport/block_task.hpp"

#include <algorithm>

#include "engine/plan_blocks.hpp"

namespace espalier::simulate {

std::vector<planner::SegmentGrid> grids_of(const planner::Plan& plan, Bytes message,
                                           Bytes segment) {
  const std::vector<std::uint64_t> bytes = engine::bytes_of_blocks(plan, message);
  const std::uint64_t longest = bytes.empty() ? 0 : std::ranges::max(bytes);
  const std::uint64_t used = std::clamp<std::uint64_t>(longest, 1, segment.value);
  std::vector<planner::SegmentGrid> grids;
  for (const std::uint64_t of_block : bytes) grids.push_back({of_block, used});
  return grids;
}

BlockTask::Trees BlockTask::trees_of(const planner::Plan& plan,
                                     const std::vector<planner::SegmentGrid>& grids,
                                     Assignments& assignments) {
  assignments.end_at(grids);
  Trees trees;
  std::size_t number = 0;
  for (const planner::PlanTrees& of : planner::blocks_of(plan)) {
    const planner::SegmentGrid& grid = grids[number];
    const planner::SegmentAssignment& assignment = assignments.blocks()[number++];
    const std::uint64_t rest = grid.message % grid.segment;
    for (std::size_t tree = 0; tree < of.trees->size(); ++tree) {
      const bool is_short = rest != 0 && assignment.tree_of(grid.count() - 1) == tree;
      trees.roots.push_back(of.root);
      trees.segments.push_back(assignment.count(tree, grid.count()));
      trees.ends_short.push_back(is_short ? 1 : 0);
      trees.last_bytes.push_back(is_short ? rest : grid.segment);
    }
  }
  return trees;
}

BlockTask::BlockTask(const planner::Plan& plan, const Flows& flows, const Network& network,
                     Bytes message, Bytes segment, std::optional<BytesPerSecond> compute)
    : grids_(grids_of(plan, message, segment)),
      assignments_(plan),
      trees_(trees_of(plan, grids_, assignments_)),
      full_(flows, network.platform, network.model,
            {{grids_.front().segment}, network.latency_occupies}),
      last_(flows, network.platform, network.model, network.latency_occupies, trees_.last_bytes),
      task_{flows, full_, last_, trees_.roots.front()} {
  const Bytes used{grids_.front().segment};
  task_.roots = trees_.roots;
  task_.segments = trees_.segments;
  task_.ends_short = trees_.ends_short;
  task_.last_bytes = trees_.last_bytes;
  task_.full_bytes = used.value;
  task_.combining = combining_at(compute, used, {});
  for (const planner::SegmentGrid& grid : grids_) task_.count += grid.count();
  if (!compute) return;
  for (const std::uint64_t bytes : trees_.last_bytes) {
    task_.last_combining_s.push_back(combining_at(compute, {bytes}, {}).full_s);
  }
}

}  // namespace espalier::simulate
