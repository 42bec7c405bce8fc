// The cheapest spanning tree for given costs of the arcs, with or without relays.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lp/graph/digraph.hpp"
#include "lp/graph/min_cost_arborescence.hpp"
#include "lp/graph/relay_arborescence.hpp"
#include "lp/graph/routed_tree.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

struct PricedTree {
  RoutedTree tree;
  double cost;  // of its arcs
  // Where it may not be the cheapest one: what that costs at least.
  std::optional<double> at_least{};
};

class CheapestTree {
 public:
  // Refers to `graph`. This and solve throw LimitReached when the deadline passes.
  CheapestTree(const Digraph& graph, std::uint32_t root, const Deadline& deadline = Deadline());

  // cost: per arc, >= 0. Nothing where some host cannot be reached.
  std::optional<PricedTree> solve(std::span<const double> cost);
  // The cheapest trees of all hosts but the root, from each of them. cost: as of solve, except that
  // each arc out of the root costs more than all others together. from_each: per node, the cost of
  // its tree; all infinite unless each reaches every other. False: some host cannot be reached.
  bool solve_from_each(std::span<const double> cost, std::vector<double>& from_each);
  // After it: the tree from the head of `root_arc`, an arc out of the root that it contains.
  RoutedTree tree_from(std::uint32_t root_arc);

 private:
  std::optional<PricedTree> through_relays(std::span<const double> cost);
  std::optional<PricedTree> among_hosts(std::span<const double> cost);

  std::uint32_t node_count_;
  // One of the two: for a network of hosts alone, and for one with relays.
  std::optional<MinCostArborescence> among_hosts_;
  std::optional<RelayArborescence> through_relays_;
};

}  // namespace espalier::lp
