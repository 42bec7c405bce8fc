// Which segment size a message wants, by the classical pipeline's formula.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// What a network asks of segments.
struct SegmentCosts {
  // What a segment costs by itself on the rank that passes it on, however short it is.
  Seconds overhead{10e-6};
  // Messages up to this size go without asking the receiver first; longer ones wait for its answer,
  // behind all that is queued in flight. Unset: asking costs nothing worth mentioning.
  std::optional<Bytes> eager;

  // Whether the sender of a segment of `segment` bytes asks the receiver first.
  [[nodiscard]] bool asks(Bytes segment) const { return eager && segment.value > eager->value; }
};

// The segment in which `message` bytes take least time along the plan's trees, when a segment costs
// `costs.overhead` for each of its trees' hops: the last host has all after about
//   message / throughput + (message / segment) overhead + segment * sum over trees (depth - 1) /
//   throughput,
// so segment = sqrt(message * overhead * throughput / sum (depth - 1)): Chan, Heimlich, Purkayastha
// and van de Geijn, "Collective communication", Concurrency and Computation 19 (2007),
// doi:10.1002/cpe.1206, section 5; for several trees, which take turns, with their depths added.
// Latencies delay all segments alike and do not count, but for what is in flight along an edge: it
// is to be no more than kMostInFlight segments (planner/plan/send_windows.hpp).
// At least 8 KiB and at most the plan's segment, which is itself where a tree's depth does not
// count. Segments over the eager size are cut down to it where that costs less than a tenth of the
// time. Precondition: no structural fault.
std::uint64_t fitted_segment(const Plan& plan, Bytes message, const SegmentCosts& costs);

// Whether no message's segments are above the eager size.
// Precondition: no structural fault.
bool are_always_eager(const Plan& plan, const SegmentCosts& costs);

// The time that the same formula gives for segments of `segment` bytes: the last host has the whole
// message after it, if the network is what the plan was made for. The latencies of the longest ways
// down its trees are added, by what the trees carry (of an allreduce those up the farthest tree and
// down the farthest). 0 for a plan of one host.
// Precondition: no structural fault; segment at least 1.
Seconds pipelined_time(const Plan& plan, Bytes message, Bytes segment, Seconds overhead);

}  // namespace espalier::planner
