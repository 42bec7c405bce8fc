// The rate of a stream from when its messages arrived.
//
// A receiver that the scheduler has put aside sees messages late and then many at once, and never
// early. So what has arrived by a time is at most what the line of the true rate says, and the
// messages that were not late are on it: it is an edge of the upper hull of those points. A full
// token bucket at the beginning is another, short edge.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier::runtime::probe {

struct Arrival {
  double at_s;  // since the transfer began
  std::uint64_t bytes;
};

// Bytes/s of a stream that was sent for `seconds`: the slope of the hull's longest edge where that
// is half of the time or more, else of the whole hull. Neither the first quarter of the time counts
// (TCP's slow start, buffers that fill) nor what arrives late (buffers that drain), unless that
// leaves fewer than four messages. `arrivals` are in order of time. 0 for none.
double rate_of(const std::vector<Arrival>& arrivals, double seconds);

}  // namespace espalier::runtime::probe
