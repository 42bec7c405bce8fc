// Parameters of the models from measured times of messages between two processes, as logp_mpi does
// (Kielmann, Bal, Verstoep, IPDPS Workshops 2000, doi:10.1007/3-540-45591-4_162, sections 3 and 4).
#pragma once

#include <span>

#include "cost_models/parameters.hpp"

namespace espalier::cost_models {

// Times for one message size: the least or the median of many, because disturbances only slow
// messages down.
struct MeasuredMessage {
  Bytes message;             // at least 1
  Seconds round_trip;        // this message and, in return, one of the shortest size
  Seconds send_overhead;     // how long sending it occupies the sender
  Seconds receive_overhead;  // how long receiving it occupies the receiver, once it has arrived
};

struct MeasuredMessages {
  std::span<const MeasuredMessage> sizes;  // two or more, ascending
  Seconds gap;                             // between back-to-back messages of the shortest size
};

// All three functions throw InputError (place: "/INDEX", or "/gap") for fewer than two sizes, sizes
// that do not ascend or are 0, and times that are not finite and at least 0.

// With m0 the shortest size, a message takes T(m) = RTT(m) - RTT(m0) / 2. g(m0) is the measured
// gap, but at most T(m0); L = T(m0) - g(m0); g(m) = T(m) - L, so that L + g(m) is the measured
// time. Overheads above g(m) are cut to g(m), and gaps below g(m0) raised to g(m0): both are noise.
PLogP plogp_from(const MeasuredMessages& measured);

// loggp_from() of plogp_from(). If the two overheads exceed the time of a message, each is cut to
// half of it, so that L' = L + g(1) - os(1) - or(1) is at least 0.
LogGP loggp_from(const MeasuredMessages& measured);

// alpha = T(m0) - m0 beta(m0) and beta(m) = (T(m) - alpha) / m, so that alpha + m beta(m) is the
// measured time; beta(m0) is the slope up to the next size, clamped to [0, T(m0) / m0].
Hockney hockney_from(const MeasuredMessages& measured);

}  // namespace espalier::cost_models
