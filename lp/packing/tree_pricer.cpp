#include "lp/packing/tree_pricer.hpp"

#include "support/errors.hpp"

namespace espalier::lp {

namespace {

// Hosts numbered without holes; kNone for relays.
std::vector<std::uint32_t> host_numbers(const Digraph& graph) {
  std::vector<std::uint32_t> number(graph.node_count, kNone);
  std::uint32_t hosts = 0;
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    if (!graph.relay(node)) number[node] = hosts++;
  }
  return number;
}

// MinCostArborescence numbers only the hosts; its arcs are the logical arcs.
MinCostArborescence make_arborescence(const PackingProblem& problem, const HostGraph& hosts,
                                      std::uint32_t host_count, const Deadline& deadline) {
  const std::vector<std::uint32_t> number = host_numbers(problem.graph);
  DeadlineWatch watch(deadline);
  const auto numbers_of = [&](std::span<const std::uint32_t> nodes) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(nodes.size());
    for (const std::uint32_t node : nodes) {
      watch.require(1);
      numbers.push_back(number[node]);
    }
    return numbers;
  };
  return {host_count, numbers_of(hosts.tail()), numbers_of(hosts.head()), number[problem.root],
          deadline};
}

}  // namespace

TreePricer::TreePricer(const PackingProblem& problem, const Deadline& deadline)
    : problem_(&problem),
      host_count_(problem.graph.host_count()),
      hosts_(problem.graph, deadline),
      arborescence_(make_arborescence(problem, hosts_, host_count_, deadline)),
      arc_cost_(problem.graph.arc_count()) {}

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
  const std::span<const std::uint32_t> chosen = arborescence_.solve(hosts_.reprice(arc_cost_));
  if (chosen.size() + 1 != host_count_) {
    throw InfeasibleError("some host cannot be reached from the source");
  }
  Priced priced{{}, arborescence_.total_cost()};
  priced.tree.arcs.reserve(chosen.size());
  if (hosts_.is_the_digraph()) {
    priced.tree.arcs.assign(chosen.begin(), chosen.end());
    return priced;
  }
  std::vector<std::uint32_t> path;
  for (const std::uint32_t logical : chosen) {
    path.clear();
    hosts_.append_path(logical, path);
    priced.tree.add_edge(path);
  }
  return priced;
}

}  // namespace espalier::lp
