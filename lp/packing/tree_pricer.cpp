#include "lp/packing/tree_pricer.hpp"

#include "lp/packing/routes_problem.hpp"
#include "support/errors.hpp"

namespace espalier::lp {

TreePricer::TreePricer(const PackingProblem& problem, const Deadline& deadline)
    : problem_(&problem), arc_cost_(problem.graph.arc_count()) {
  if (problem.routes != nullptr) return;
  if (!problem.is_member.empty()) {
    to_members_.emplace(problem.graph, problem.root, problem.is_member, deadline);
  } else if (problem.root_arcs == 0) {
    from_root_.emplace(problem.graph, problem.root, deadline);
  } else {
    from_any_root_.emplace(problem, deadline);
  }
}

PricedTree TreePricer::cheapest_tree(std::span<const double> prices) {
  const SparseMatrix& occupation = problem_->occupation;
  const int* first = occupation.outerIndexPtr();
  const int* row = occupation.innerIndexPtr();
  const double* value = occupation.valuePtr();
  for (std::size_t arc = 0; arc < arc_cost_.size(); ++arc) {
    double cost = 0;
    for (int i = first[arc]; i < first[arc + 1]; ++i) {
      cost += value[i] * prices[static_cast<std::size_t>(row[i])];
    }
    arc_cost_[arc] = cost;
  }
  std::optional<PricedTree> priced = problem_->routes != nullptr
                                         ? problem_->routes->cheapest(arc_cost_)
                                     : to_members_ ? to_members_->solve(arc_cost_)
                                     : from_root_  ? from_root_->solve(arc_cost_)
                                                   : from_any_root_->solve(arc_cost_);
  if (!priced) throw InfeasibleError("some host cannot be reached from the source");
  return std::move(*priced);
}

}  // namespace espalier::lp
