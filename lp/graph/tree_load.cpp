// A file of its own, so that users of tree_load need no linear program.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

std::vector<double> tree_load(const SparseMatrix& occupation, const RoutedTree& tree) {
  std::vector<double> load(static_cast<std::size_t>(occupation.rows()), 0.0);
  for (const std::uint32_t arc : tree.arcs) {
    for (SparseMatrix::InnerIterator it(occupation, static_cast<Eigen::Index>(arc)); it; ++it) {
      load[static_cast<std::size_t>(it.row())] += it.value();
    }
  }
  return load;
}

}  // namespace espalier::lp
