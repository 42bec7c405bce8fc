#include "simulate/transport/block_task.hpp"

#include <algorithm>
#include <utility>

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

double sends_of(std::span<const planner::PlanTrees> blocks,
                std::span<const planner::SegmentGrid> grids, const Assignments& assignments) {
  double sends = 0;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const std::vector<planner::PlanTree>& trees = *blocks[block].trees;
    for (std::size_t tree = 0; tree < trees.size(); ++tree) {
      const std::uint64_t segments = assignments.blocks()[block].count(tree, grids[block].count());
      sends += static_cast<double>(segments) * static_cast<double>(trees[tree].edges.size());
    }
  }
  return sends;
}

Task BlockTask::assigned(const planner::Plan& plan, const Flows& flows) {
  assignments_.end_at(grids_);
  const std::vector<planner::PlanTrees> blocks = planner::blocks_of(plan);
  Task task{flows, full_, last_, blocks.front().root};
  task.assign_segments(assignments_, grids_);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const planner::SegmentGrid& grid = grids_[block];
    for (std::size_t tree = 0; tree < blocks[block].trees->size(); ++tree) {
      const bool is_short = task.ends_short[task.roots.size()] != 0;
      task.roots.push_back(blocks[block].root);
      task.last_bytes.push_back(is_short ? grid.message % grid.segment : grid.segment);
    }
  }
  task.full_bytes = grids_.front().segment;
  return task;
}

BlockTask::BlockTask(const planner::Plan& plan, const Flows& flows, Assignments assignments,
                     const Network& network, Bytes message, Bytes segment,
                     std::optional<BytesPerSecond> compute)
    : grids_(grids_of(plan, message, segment)),
      assignments_(std::move(assignments)),
      task_(assigned(plan, flows)),
      full_(flows, network.platform, network.model, {{task_.full_bytes}, network.latency_occupies}),
      last_(flows, network.platform, network.model, network.latency_occupies, task_.last_bytes) {
  task_.combining = combining_at(compute, {task_.full_bytes}, {});
  if (!compute) return;
  for (const std::uint64_t bytes : task_.last_bytes) {
    task_.last_combining_s.push_back(combining_at(compute, {bytes}, {}).full_s);
  }
}

}  // namespace espalier::simulate
