// From resource prices to the cheapest spanning tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_graph.hpp"
#include "lp/graph/min_cost_arborescence.hpp"
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
  const PackingProblem* problem_;
  std::uint32_t host_count_;
  HostGraph hosts_;
  MinCostArborescence arborescence_;
  std::vector<double> arc_cost_;
};

}  // namespace espalier::lp
