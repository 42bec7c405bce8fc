// A message cut into segments.
#pragma once

#include <algorithm>
#include <cstdint>

namespace espalier::planner {

// A message of `message` bytes in segments of `segment` bytes; the last one may be shorter.
struct SegmentGrid {
  std::uint64_t message = 0;
  std::uint64_t segment = 1;  // at least 1

  // Not (message + segment - 1) / segment, which overflows.
  [[nodiscard]] std::uint64_t count() const {
    return message / segment + (message % segment != 0 ? 1 : 0);
  }
  [[nodiscard]] std::uint64_t offset(std::uint64_t index) const { return index * segment; }
  [[nodiscard]] std::uint64_t length(std::uint64_t index) const {
    return std::min(segment, message - offset(index));
  }
};

}  // namespace espalier::planner
