#include "lp/packing/tree_pricer.hpp"

#include "support/errors.hpp"

namespace espalier::lp {

TreePricer::TreePricer(const PackingProblem& problem, const Deadline& deadline)
    : problem_(&problem), arc_cost_(problem.graph.arc_count()) {
  const Digraph& graph = problem.graph;
  if (graph.has_relays()) {
    through_relays_.emplace(graph, problem.root, deadline);
  } else {
    among_hosts_.emplace(graph.node_count, graph.tail, graph.head, problem.root, deadline);
  }
}

TreePricer::Priced TreePricer::cheapest_tree(std::span<const double> prices) {
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
  std::optional<Priced> priced = through_relays_ ? price_through_relays() : price_among_hosts();
  if (!priced) throw InfeasibleError("some host cannot be reached from the source");
  return std::move(*priced);
}

std::optional<TreePricer::Priced> TreePricer::price_through_relays() {
  std::optional<RoutedTree> tree = through_relays_->solve(arc_cost_);
  if (!tree) return std::nullopt;
  return Priced{std::move(*tree), through_relays_->total_cost()};
}

std::optional<TreePricer::Priced> TreePricer::price_among_hosts() {
  const std::span<const std::uint32_t> chosen = among_hosts_->solve(arc_cost_);
  if (chosen.size() + 1 != problem_->graph.node_count) return std::nullopt;
  Priced priced{{}, among_hosts_->total_cost()};
  priced.tree.arcs.assign(chosen.begin(), chosen.end());
  return priced;
}

}  // namespace espalier::lp
