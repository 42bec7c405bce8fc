#include "lp/prices/slow_arcs.hpp"

#include <algorithm>

namespace espalier::lp {

SlowArcs::SlowArcs(const SparseMatrix& occupation, double unit_rate)
    : slow_(static_cast<std::size_t>(occupation.cols()), 0),
      prices_(static_cast<std::size_t>(occupation.rows()), 0.0) {
  for (Eigen::Index arc = 0; arc < occupation.outerSize(); ++arc) {
    for (SparseMatrix::InnerIterator it(occupation, arc); it; ++it) {
      const double load = it.value() * unit_rate;
      if (!(load > kFarSlower)) continue;
      slow_[static_cast<std::size_t>(arc)] = 1;
      double& price = prices_[static_cast<std::size_t>(it.row())];
      price = std::max(price, 1 / load);
    }
  }
}

bool SlowArcs::any_in(const RoutedTree& tree) const {
  return std::ranges::any_of(tree.arcs, [&](std::uint32_t arc) { return slow_[arc] != 0; });
}

}  // namespace espalier::lp
