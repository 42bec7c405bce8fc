// Places on earth: latencies from them, and where they are drawn. Not installed.
#pragma once

#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

struct Place {
  double latitude;  // degrees
  double longitude;
};

constexpr Position position_of(const Place& place) {
  return {place.longitude, place.latitude};
}

// Great circle at 200 km a millisecond, the speed of light in fibre. Whole nanoseconds: the last
// bits of sin() differ between machines.
Seconds latency_between(const Place& one, const Place& other);

}  // namespace espalier::platforms
