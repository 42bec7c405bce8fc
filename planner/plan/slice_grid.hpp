// A message cut into slices.
#pragma once

#include <algorithm>
#include <cstdint>

namespace espalier::planner {

// A message of `message` bytes in slices of `slice` bytes; the last one is what is left.
struct SliceGrid {
  std::uint64_t message = 0;
  std::uint64_t slice = 1;  // at least 1

  // Not (message + slice - 1) / slice, which overflows.
  [[nodiscard]] std::uint64_t count() const {
    return message / slice + (message % slice != 0 ? 1 : 0);
  }
  [[nodiscard]] std::uint64_t offset(std::uint64_t index) const { return index * slice; }
  [[nodiscard]] std::uint64_t length(std::uint64_t index) const {
    return std::min(slice, message - offset(index));
  }
};

}  // namespace espalier::planner
