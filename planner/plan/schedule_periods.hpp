// When in its periods a schedule lets data go on: the same for who simulates and who executes it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "support/quantities.hpp"

namespace espalier::planner {

// The number of periods, at least 1, after which what has arrived at this time goes on, both since
// the beginning of the period in which it was sent.
inline std::uint64_t periods_until(Seconds arrival, Seconds period) {
  constexpr double kRounding = 1e-9;
  return static_cast<std::uint64_t>(
      std::max(1.0, std::ceil(arrival.value / period.value - kRounding)));
}

}  // namespace espalier::planner
