#include "lp/packing/cheapest_tree.hpp"

#include <utility>

namespace espalier::lp {

CheapestTree::CheapestTree(const Digraph& graph, std::uint32_t root, const Deadline& deadline)
    : node_count_(graph.node_count) {
  if (graph.has_relays()) {
    through_relays_.emplace(graph, root, deadline);
  } else {
    among_hosts_.emplace(graph.node_count, graph.tail, graph.head, root, deadline);
  }
}

std::optional<PricedTree> CheapestTree::solve(std::span<const double> cost) {
  return through_relays_ ? through_relays(cost) : among_hosts(cost);
}

bool CheapestTree::solve_from_each(std::span<const double> cost, std::vector<double>& from_each) {
  return through_relays_ ? through_relays_->solve_from_each(cost, from_each)
                         : among_hosts_->solve_from_each(cost, from_each);
}

RoutedTree CheapestTree::tree_from(std::uint32_t root_arc) {
  if (through_relays_) return through_relays_->tree_from(root_arc);
  const std::span<const std::uint32_t> chosen = among_hosts_->tree_from(root_arc);
  return {{chosen.begin(), chosen.end()}, {}};
}

std::optional<PricedTree> CheapestTree::through_relays(std::span<const double> cost) {
  std::optional<RoutedTree> tree = through_relays_->solve(cost);
  if (!tree) return std::nullopt;
  return PricedTree{std::move(*tree), through_relays_->total_cost()};
}

std::optional<PricedTree> CheapestTree::among_hosts(std::span<const double> cost) {
  const std::span<const std::uint32_t> chosen = among_hosts_->solve(cost);
  if (chosen.size() + 1 != node_count_) return std::nullopt;
  PricedTree priced{{}, among_hosts_->total_cost()};
  priced.tree.arcs.assign(chosen.begin(), chosen.end());
  return priced;
}

}  // namespace espalier::lp
