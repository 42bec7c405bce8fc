#include "runtime/api/routes.hpp"

#include "engine/plan_blocks.hpp"

namespace espalier::runtime {

Routes::Routes(const BoundPlan& bound)
    : ranks_(bound.plan.nodes.size()), exists_(ranks_ * ranks_, false) {
  const auto rank_of = [&](std::uint32_t node) {
    return static_cast<std::size_t>(bound.rank_of_node[node]);
  };
  const engine::Place place{bound.rank_of_node, bound.rank, bound.hosts_of};
  for (const planner::PlanTrees& block : planner::blocks_of(bound.plan)) {
    const Route route{rank_of(block.root), rank_of(*block.to)};
    exists_[route.from * ranks_ + route.to] = true;
    if (engine::concerns_rank(block, place)) here_.push_back(route);
  }
  for (std::size_t i = 0; i < exists_.size() && !missing_; ++i) {
    const Route route{i / ranks_, i % ranks_};
    if (route.from != route.to && !exists_[i]) missing_ = route;
  }
}

}  // namespace espalier::runtime
