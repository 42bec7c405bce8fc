// Arcs that are too slow to matter next to the best tree, and that would make GLPK's programs
// ill-conditioned: the master does without them, and the certificate pays for each with a price of
// at most 1e-7 on its resource.
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
