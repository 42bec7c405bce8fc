#include "runtime/preload/plan_choice.hpp"

#include <algorithm>
#include <numeric>

#include "runtime/api/rank_mapping.hpp"
#include "support/errors.hpp"

namespace espalier::preload {
namespace {

std::vector<int> ranks_of_nodes(const planner::Plan& plan, const Members& members,
                                runtime::RankMapping mapping) {
  if (mapping == runtime::RankMapping::kByHostName) {
    return runtime::ranks_by_host(members.hosts, plan.nodes);
  }
  std::vector<int> ranks(plan.nodes.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (plan.nodes.size() != members.world_size) return ranks;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[static_cast<std::size_t>(members.world_ranks[rank])] = static_cast<int>(rank);
  }
  return ranks;
}

// Whether every rank that has a part has a share in the plan, whose nodes are in rank order.
bool covers(const planner::Plan& plan, const Members& members) {
  const std::vector<double> of_plan = planner::shares_of(plan);
  const std::size_t ranks = plan.nodes.size();
  for (std::size_t i = 0; i < of_plan.size(); ++i) {
    // What a rank has for itself, or sends to itself, needs no share.
    if (plan.operation == planner::Operation::kAlltoall && i / ranks == i % ranks) continue;
    if (planner::needs_root(plan.operation) && i == static_cast<std::size_t>(members.root))
      continue;
    const bool has_part = members.shares.empty() || members.shares[i % ranks] > 0;
    if (has_part && !(of_plan[i] > 0)) return false;
  }
  return true;
}

}  // namespace

planner::Plan in_rank_order(const planner::Plan& plan, std::span<const int> rank_of_node) {
  const auto moved = [&](std::uint32_t node) {
    return static_cast<std::uint32_t>(rank_of_node[node]);
  };
  planner::Plan ordered = plan;
  ordered.schedule.reset();
  for (std::uint32_t node = 0; node < plan.nodes.size(); ++node) {
    ordered.nodes[moved(node)] = plan.nodes[node];
  }
  const auto move_trees = [&](std::vector<planner::PlanTree>& trees) {
    for (planner::PlanTree& tree : trees) {
      for (planner::PlanEdge& edge : tree.edges) edge = {moved(edge.parent), moved(edge.child)};
      for (planner::PlanEdge& edge : tree.exchange) edge = {moved(edge.parent), moved(edge.child)};
      tree.via.clear();  // refers to relays of the platform
    }
  };
  move_trees(ordered.reduce_trees);
  move_trees(ordered.broadcast_trees);
  for (planner::PlanBlock& block : ordered.blocks) {
    block.root = moved(block.root);
    if (block.to) block.to = moved(*block.to);
    move_trees(block.trees);
  }
  return ordered;
}

std::optional<planner::Plan> fitted(const planner::Plan& plan, const Members& members,
                                    runtime::RankMapping mapping) {
  if (plan.operation != members.operation) return std::nullopt;
  if (plan.nodes.size() != members.world_ranks.size()) return std::nullopt;
  const bool needs_root = planner::needs_root(plan.operation);
  try {
    const std::vector<int> ranks = ranks_of_nodes(plan, members, mapping);
    if (needs_root && ranks[planner::source_index(plan)] != members.root) return std::nullopt;
    planner::Plan ordered = in_rank_order(plan, ranks);
    if (!covers(ordered, members)) return std::nullopt;
    return ordered;
  } catch (const InputError&) {  // hosts that are not in the plan
    return std::nullopt;
  }
}

}  // namespace espalier::preload
