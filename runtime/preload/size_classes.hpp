// Sizes of messages that are planned, measured and counted together: from one power of two to the
// next.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "support/quantities.hpp"

namespace espalier::preload {

inline constexpr std::size_t kSizeClasses = 64;

// k, for 2^k to 2^(k+1) - 1 bytes. bytes: at least 1.
constexpr int size_class(std::uint64_t bytes) {
  return static_cast<int>(std::bit_width(bytes)) - 1;
}

// The size for which a class is planned: in the middle of it.
constexpr Bytes middle_of(int size) {
  const std::uint64_t least = std::uint64_t{1} << static_cast<unsigned>(size);
  return {least + least / 2};
}

// Consecutive classes; none if least exceeds most.
struct SizeClasses {
  int least = 0;
  int most = kSizeClasses - 1;
  [[nodiscard]] constexpr bool contains(int size) const { return least <= size && size <= most; }
};

}  // namespace espalier::preload
