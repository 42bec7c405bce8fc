// A file of its own, so that users of tree_load need no linear program.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

void price_arcs(const SparseMatrix& occupation, std::span<const double> prices,
                std::span<double> cost) {
  const int* first = occupation.outerIndexPtr();
  const int* count = occupation.innerNonZeroPtr();  // null: the matrix is compressed
  const int* row = occupation.innerIndexPtr();
  const double* value = occupation.valuePtr();
  for (std::size_t arc = 0; arc < cost.size(); ++arc) {
    double sum = 0;
    const int end = count == nullptr ? first[arc + 1] : first[arc] + count[arc];
    for (int i = first[arc]; i < end; ++i) {
      sum += value[i] * prices[static_cast<std::size_t>(row[i])];
    }
    cost[arc] = sum;
  }
}

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
