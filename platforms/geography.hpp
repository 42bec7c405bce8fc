// Latencies from coordinates. Not installed.
#pragma once

#include "support/quantities.hpp"

namespace espalier::platforms {

struct Place {
  double latitude;  // degrees
  double longitude;
};

// Great circle at 200 km a millisecond, the speed of light in fibre. Whole nanoseconds: the last
// bits of sin() differ between machines.
Seconds latency_between(const Place& one, const Place& other);

}  // namespace espalier::platforms
