// The rate of a stream, from the arrival times of its messages.
//
// A receiver that was descheduled sees messages late, many at once, but never early. So the bytes
// that have arrived by a given time are at most those on the line of the true rate, and messages
// that were not late lie on it: this line is an edge of the upper hull of the points. A full token
// bucket at the beginning gives another, short edge.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier::runtime::probe {

struct Arrival {
  double at_s;  // since the transfer began
  std::uint64_t bytes;
};

// Bytes/s of a stream that was sent for `seconds`: the slope of the hull's longest edge if that
// covers at least half of the time, otherwise of the whole hull. The first quarter of the time
// (TCP's slow start, buffers that fill) and later arrivals (buffers that drain) are ignored, unless
// fewer than four messages would remain. `arrivals` are in order of time. 0 without arrivals.
double rate_of(const std::vector<Arrival>& arrivals, double seconds);

}  // namespace espalier::runtime::probe
