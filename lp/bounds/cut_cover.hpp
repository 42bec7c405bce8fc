// What a few arcs carry together at most, whatever flows elsewhere, and the prices that prove it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

struct RowValue {
  std::uint32_t row;
  double value;
};

double total_of(std::span<const RowValue> values);

class CutCover {
 public:
  // Keeps a reference.
  explicit CutCover(const SparseMatrix& occupation)
      : occupation_(&occupation),
        arcs_using_(static_cast<std::size_t>(occupation.rows()), 0),
        least_(arcs_using_.size(), 0.0) {}

  // The resources that all of these arcs occupy, with the least that one does, in seconds per byte.
  std::vector<RowValue> rows_of_all(std::span<const std::uint32_t> arcs);
  // Prices at which each of these arcs costs at least 1: of one resource that all occupy, or for
  // each arc of the one that it occupies most, whichever costs less in all. Their sum is what trees
  // that each use one of the arcs carry together at most, in bytes per second. Empty: an arc
  // occupies nothing.
  std::vector<RowValue> prices(std::span<const std::uint32_t> arcs);

 private:
  const SparseMatrix* occupation_;
  std::vector<std::uint32_t> arcs_using_;  // scratch, per resource
  std::vector<double> least_;              // scratch, per resource
};

}  // namespace espalier::lp
