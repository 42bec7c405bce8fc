// Places on earth: latencies between them, and their positions in pictures. Not installed.
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

// The great-circle distance at 200 km per millisecond, the speed of light in fibre. Rounded to
// nanoseconds, because the last bits of sin() differ between machines.
Seconds latency_between(const Place& one, const Place& other);

}  // namespace espalier::platforms
