// A file of its own, so that users of tree_load need no linear program.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

std::vector<double> tree_load(const SparseMatrix& occupation, const RoutedTree& tree) {
  std::vector<double> load(static_cast<std::size_t>(occupation.rows()), 0.0);
  for (std::size_t i = 0; i < tree.arcs.size(); ++i) {
    for (auto it = uses_of(occupation, tree.arcs[i]); it; ++it) {
      load[static_cast<std::size_t>(it.row())] += it.value() * tree.amount(i);
    }
  }
  return load;
}

}  // namespace espalier::lp
