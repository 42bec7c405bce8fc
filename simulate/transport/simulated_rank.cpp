#include "simulate/transport/simulated_rank.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/plan_blocks.hpp"
#include "planner/plan/send_windows.hpp"

namespace espalier::simulate {

namespace {

// Finds a tree's flow by the child of its edge: every host is the child of one edge at most.
class FlowsByChild {
 public:
  explicit FlowsByChild(const Flows& flows) : flows_(flows), order_(flows.all().size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, {}, [this](std::uint32_t flow) { return key_of(flow); });
  }
  [[nodiscard]] std::uint32_t at(std::uint32_t tree, std::uint32_t child) const {
    return *std::ranges::lower_bound(order_, std::pair(tree, child), {},
                                     [this](std::uint32_t flow) { return key_of(flow); });
  }

 private:
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> key_of(std::uint32_t flow) const {
    return {flows_.all()[flow].tree, flows_.all()[flow].child};
  }
  const Flows& flows_;
  std::vector<std::uint32_t> order_;
};

template <class Act>
void for_each_tree(planner::Plan& plan, const Act& act) {
  std::uint32_t number = 0;
  for (auto* trees : {&plan.reduce_trees, &plan.broadcast_trees}) {
    for (planner::PlanTree& tree : *trees) act(tree, number++);
  }
  for (planner::PlanBlock& block : plan.blocks) {
    for (planner::PlanTree& tree : block.trees) act(tree, number++);
  }
}

// The plan with the latencies of the simulated network, by which windows and pace are chosen. Where
// a send ends when it has left, they play no part in it, unless its receiver needs a buffer for it.
planner::Plan with_latencies(const Call& call, const FlowsByChild& flows, bool until_received) {
  planner::Plan plan = call.plan;
  const bool all_count = until_received || planner::routes(plan.operation);
  for_each_tree(plan, [&](planner::PlanTree& tree, std::uint32_t number) {
    tree.latencies.clear();
    for (const planner::PlanEdge& edge : tree.edges) {
      const Flow& flow = call.flows.all()[flows.at(number, edge.child)];
      if (!all_count && !flow.up) return;
      tree.latencies.push_back({flow.latency_s});
    }
  });
  return plan;
}

// The ranks that have a part in a block.
std::vector<std::uint32_t> ranks_in(const planner::PlanTrees& block, std::size_t hosts) {
  std::vector<std::uint32_t> ranks;
  if (!block.to) {
    ranks.resize(hosts);
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ranks;
  }
  for (const planner::PlanTree& path : *block.trees) {
    for (const planner::PlanEdge& edge : path.edges) {
      ranks.push_back(edge.parent);
      ranks.push_back(edge.child);
    }
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

struct Parts {
  std::vector<engine::Block> blocks;
  std::vector<engine::Range> ranges;
};

// Of each rank. As runtime/api/engines.cpp chooses them; sends are paced where they share links,
// because in turns they are one after the other anyway.
std::vector<Parts> parts_of_ranks(const Call& call, const planner::Plan& plan,
                                  const Windows& windows) {
  const std::size_t hosts = plan.nodes.size();
  std::vector<int> rank_of_node(hosts);
  std::iota(rank_of_node.begin(), rank_of_node.end(), 0);
  const bool is_paced = windows.until_received && windows.sharing != Sharing::kTurns;
  const bool answers_queue = windows.until_received && planner::goes_both_ways(plan.operation);
  const double most_in_flight = planner::most_bytes_in_flight(plan);
  std::vector<Parts> of_ranks(hosts);
  std::size_t number = 0;
  std::size_t first_tree = 0;
  for (const planner::PlanTrees& of : planner::blocks_of(plan)) {
    for (const std::uint32_t rank : ranks_in(of, hosts)) {
      Parts& parts = of_ranks[rank];
      const engine::Place place{.rank_of_node = rank_of_node, .rank = static_cast<int>(rank)};
      engine::Block& block = parts.blocks.emplace_back(
          engine::block_of(of, most_in_flight, call.assignments.blocks()[number], place));
      block.first_tree = first_tree;
      if (windows.rounds) block.rounds = engine::rounds_of(of, place);
      if (!is_paced) block.most_in_flight = 0;
      if (of.up && answers_queue) block.least_in_flight = planner::kAllreduceInFlight;
      parts.ranges.push_back({0, call.grids[number]});
    }
    first_tree += of.trees->size();
    ++number;
  }
  return of_ranks;
}

}  // namespace

void SimulatedRank::begin(const Memory& memory) {
  engine_.prepare({}, ranges_);
  std::vector<StoreWithoutBytes::Buffers> buffers;
  for (std::size_t tree = 0; tree < roles_.size(); ++tree) {
    const engine::TreeRole& role = roles_[tree];
    const engine::TreeWindows& windows = transport_.windows()[tree];
    StoreWithoutBytes::Buffers& of_tree = buffers.emplace_back();
    if (role.combines) {
      const bool keeps = memory.has_results || role.out.empty();
      of_tree.in = engine::combining_buffers(windows, keeps);
      of_tree.sends_from_first = !keeps;
    } else if (!memory.has_parts) {
      const std::uint64_t most = engine::routing_buffers(role, windows, engine_.segments_of(tree));
      if (most > 0) of_tree.in = {most};
    }
    of_tree.waits_for_all = role.exchanges > 0;
  }
  store_ = std::make_unique<StoreWithoutBytes>(std::move(buffers));
  engine_.begin(*store_);
}

std::vector<std::unique_ptr<SimulatedRank>> ranks_of(const Call& call, const Windows& windows,
                                                     Channels& channels) {
  const FlowsByChild by_child(call.flows);
  const planner::Plan plan = with_latencies(call, by_child, windows.until_received);
  engine::Options options;
  options.sends_in_flight = windows.sends;
  options.receives_in_flight = windows.receives;
  std::vector<std::unique_ptr<SimulatedRank>> ranks;
  for (Parts& parts : parts_of_ranks(call, plan, windows)) {
    const auto rank = static_cast<std::uint32_t>(ranks.size());
    const auto flow_of = [&](const engine::TreeRole& role, std::size_t edge, bool is_send) {
      const int peer = (is_send ? role.out : role.in)[edge].peer;
      const bool is_child = is_send == role.combines;
      return by_child.at(static_cast<std::uint32_t>(role.number),
                         is_child ? rank : static_cast<std::uint32_t>(peer));
    };
    ranks.push_back(std::make_unique<SimulatedRank>(channels, rank, std::move(parts.blocks),
                                                    std::move(parts.ranges), options, flow_of));
  }
  return ranks;
}

}  // namespace espalier::simulate
