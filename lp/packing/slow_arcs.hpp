// Arcs that are too slow to matter next to the best tree, and too slow for the solver.
//
// In the packing's master an arc that occupies a resource 1e8 times longer than the best tree does
// is an entry of 1e8 next to entries of 1. GLPK works to 1e-9 and then calls a feasible program
// infeasible, or a solution that overloads a row optimal. A tree with such an arc can carry at most
// 1e-7 of the optimum, so the master does without it, and the certificate pays for the arc: a price
// of at most 1e-7 on its resource.
#pragma once

#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

class SlowArcs {
 public:
  // Arcs that occupy some resource for more than kFarSlower / unit_rate seconds per byte.
  // unit_rate: bytes per second that some tree carries.
  SlowArcs(const SparseMatrix& occupation, double unit_rate);

  static constexpr double kFarSlower = 1e7;

  // Whether the tree uses any of them.
  [[nodiscard]] bool any_in(const RoutedTree& tree) const;
  // Per resource: the price at which each of them costs at least 1 / unit_rate. 0 where there is
  // none.
  [[nodiscard]] const std::vector<double>& prices() const { return prices_; }

 private:
  std::vector<char> slow_;  // per arc
  std::vector<double> prices_;
};

}  // namespace espalier::lp
