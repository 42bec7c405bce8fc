// What the checks of a plan's figures have in common.
#pragma once

#include <cmath>

namespace espalier::planner {

// Of two figures that should be equal but for rounding.
inline bool differ(double one, double other) {
  constexpr double kTolerance = 1e-6;
  return !(std::abs(one - other) <= kTolerance * other);
}

inline bool finite_and_positive(double value) {
  return std::isfinite(value) && value > 0;
}

}  // namespace espalier::planner
