// Parameters of the models from messages that were timed between two processes.
//
// As logp_mpi measures: T. Kielmann, H. E. Bal, K. Verstoep, Fast measurement of LogP parameters
// for message passing platforms, IPDPS Workshops 2000 (doi:10.1007/3-540-45591-4_162), sections 3
// and 4; CM, section 6.1, uses its figures. Only the gap of the shortest message comes from a row
// of messages; others follow from round trips, which need no full network.
#pragma once

#include <span>

#include "cost_models/parameters.hpp"

namespace espalier::cost_models {

// One size. What disturbs a message makes it slower: these are the least of many, or their median.
struct MeasuredMessage {
  Bytes message;             // at least 1
  Seconds round_trip;        // it there, a message of the shortest size back
  Seconds send_overhead;     // how long sending it keeps the sender
  Seconds receive_overhead;  // how long receiving it keeps the receiver, when it had time to arrive
};

struct MeasuredMessages {
  std::span<const MeasuredMessage> sizes;  // ascending, two or more, the shortest first
  Seconds gap;  // between messages of the shortest size that are sent in a row
};

// From all three: throws InputError (place: "/INDEX", or "/gap") for fewer than two sizes, sizes
// that do not ascend or are 0, and times that are not finite and at least 0.

// A message takes T(m) = RTT(m) - RTT(m0) / 2, m0 being the shortest. g(m0) is the gap, T(m0) at
// most; L = T(m0) - g(m0), g(m) = T(m) - L, and so L + g(m) is what was measured. Overheads over
// g(m), and gaps below g(m0), are noise, and cut to it.
PLogP plogp_from(const MeasuredMessages& measured);

// loggp_from() of that. L' = L + g(1) - os(1) - or(1) is 0 at least: overheads that are more than a
// message takes are cut to half of it each.
LogGP loggp_from(const MeasuredMessages& measured);

// alpha = T(m0) - m0 beta(m0), beta(m) = (T(m) - alpha) / m, so that alpha + m beta(m) is what was
// measured; beta(m0) is the rise to the next size, from 0 to T(m0) / m0.
Hockney hockney_from(const MeasuredMessages& measured);

}  // namespace espalier::cost_models
