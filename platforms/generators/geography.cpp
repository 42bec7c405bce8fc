#include "platforms/generators/geography.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace espalier::platforms {

Seconds latency_between(const Place& one, const Place& other) {
  constexpr double kRadius = 6371.0088e3;  // m
  constexpr double kSpeed = 200e6;         // m/s
  constexpr double kDegree = std::numbers::pi / 180;
  const double north = std::sin((other.latitude - one.latitude) * kDegree / 2);
  const double east = std::sin((other.longitude - one.longitude) * kDegree / 2);
  const double haversine = north * north + std::cos(one.latitude * kDegree) *
                                               std::cos(other.latitude * kDegree) * east * east;
  const double metres = 2 * kRadius * std::asin(std::sqrt(std::min(1.0, haversine)));
  return {std::round(metres / kSpeed * 1e9) / 1e9};
}

}  // namespace espalier::platforms
