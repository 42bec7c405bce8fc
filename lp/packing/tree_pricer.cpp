#include "lp/packing/tree_pricer.hpp"

#include "lp/problem/routes_problem.hpp"
#include "support/errors.hpp"

namespace espalier::lp {

TreePricer::TreePricer(const PackingProblem& problem, const Deadline& deadline)
    : problem_(&problem), deadline_(deadline), arc_cost_(problem.graph.arc_count()) {
  constexpr std::size_t kManyRoots = 3;
  if (problem.routes != nullptr) return;
  if (!problem.is_member.empty()) {
    to_members_.emplace(problem.graph, problem.root, problem.is_member, deadline);
  } else if (problem.part_roots.size() >= kManyRoots) {
    from_all_roots_.emplace(problem, deadline);
    arc_cost_.resize(from_all_roots_->arc_count());
  } else if (problem.root_arcs == 0) {
    from_root_.emplace(problem.graph, problem.root, deadline);
  } else {
    from_any_root_.emplace(problem, deadline);
  }
}

std::optional<PricedTree> TreePricer::cheapest() {
  if (problem_->routes != nullptr) return problem_->routes->cheapest(arc_cost_);
  if (to_members_) return to_members_->solve(arc_cost_);
  if (from_all_roots_) return from_all_roots_->solve(arc_cost_);
  return from_root_ ? from_root_->solve(arc_cost_) : from_any_root_->solve(arc_cost_);
}

PricedTree TreePricer::cheapest_tree(std::span<const double> prices) {
  price_arcs(problem_->occupation, prices, arc_cost_);
  std::optional<PricedTree> priced = cheapest();
  if (!priced && from_all_roots_) {  // hosts that are no roots may not reach the others
    from_all_roots_.reset();
    from_root_.emplace(problem_->graph, problem_->root, deadline_);
    arc_cost_.resize(problem_->graph.arc_count());
    return cheapest_tree(prices);
  }
  if (!priced) throw InfeasibleError("some host cannot be reached from the source");
  return std::move(*priced);
}

}  // namespace espalier::lp
