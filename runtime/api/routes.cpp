#include "runtime/api/routes.hpp"

#include <algorithm>

namespace espalier::runtime {

bool concerns_rank(const planner::PlanTrees& block, const BoundPlan& bound) {
  const auto is_here = [&](std::uint32_t node) { return bound.rank_of_node[node] == bound.rank; };
  return std::ranges::any_of(*block.trees, [&](const planner::PlanTree& tree) {
    return std::ranges::any_of(tree.edges, [&](const planner::PlanEdge& edge) {
      return is_here(edge.parent) || is_here(edge.child);
    });
  });
}

Routes::Routes(const BoundPlan& bound)
    : ranks_(bound.plan.nodes.size()), exists_(ranks_ * ranks_, false) {
  const auto rank_of = [&](std::uint32_t node) {
    return static_cast<std::size_t>(bound.rank_of_node[node]);
  };
  for (const planner::PlanTrees& block : planner::blocks_of(bound.plan)) {
    const Route route{rank_of(block.root), rank_of(*block.to)};
    exists_[route.from * ranks_ + route.to] = true;
    if (concerns_rank(block, bound)) here_.push_back(route);
  }
  for (std::size_t i = 0; i < exists_.size() && !missing_; ++i) {
    const Route route{i / ranks_, i % ranks_};
    if (route.from != route.to && !exists_[i]) missing_ = route;
  }
}

}  // namespace espalier::runtime
