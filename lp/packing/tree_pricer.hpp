// From resource prices to the cheapest spanning tree.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lp/graph/min_cost_arborescence.hpp"
#include "lp/graph/relay_arborescence.hpp"
#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

class TreePricer {
 public:
  // This and cheapest_tree throw LimitReached when the deadline passes.
  explicit TreePricer(const PackingProblem& problem, const Deadline& deadline = Deadline());

  // prices: per resource, >= 0. The tree that minimises prices' A x, and that minimum. Throws
  // InfeasibleError when some host cannot be reached.
  struct Priced {
    RoutedTree tree;
    double cost;
  };
  Priced cheapest_tree(std::span<const double> prices);

 private:
  std::optional<Priced> price_through_relays();
  std::optional<Priced> price_among_hosts();

  const PackingProblem* problem_;
  // One of the two: for a network of hosts alone, and for one with relays.
  std::optional<MinCostArborescence> among_hosts_;
  std::optional<RelayArborescence> through_relays_;
  std::vector<double> arc_cost_;
};

}  // namespace espalier::lp
