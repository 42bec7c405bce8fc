// Which slice size a message wants, by the classical pipeline's formula.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// What a network asks of slices.
struct SliceCosts {
  // What a slice costs by itself on the rank that passes it on, however short it is.
  Seconds overhead{10e-6};
  // Messages up to this size go without asking the receiver first; longer ones wait for its answer,
  // behind all that is queued on the way. Unset: asking costs nothing worth mentioning.
  std::optional<Bytes> eager;

  // Whether the sender of a slice of `slice` bytes asks the receiver first.
  [[nodiscard]] bool asks(Bytes slice) const { return eager && slice.value > eager->value; }
};

// The slice in which `message` bytes take least time along the plan's trees, when a slice costs
// `costs.overhead` for each of its trees' hops: the last host has all after about
//   message / throughput + (message / slice) overhead + slice * sum over trees (depth - 1) /
//   throughput,
// so slice = sqrt(message * overhead * throughput / sum (depth - 1)): Chan, Heimlich, Purkayastha
// and van de Geijn, "Collective communication", Concurrency and Computation 19 (2007),
// doi:10.1002/cpe.1206, section 5; for several trees, which take turns, with their depths added.
// Latencies delay all slices alike and do not count, but for what is on its way along an edge: it
// is to be no more than kMostOnTheWay slices (planner/plan/send_windows.hpp).
// At least 8 KiB and at most the plan's slice, which is itself where a tree's depth does not count.
// Slices over the eager size are cut down to it where that costs less than a tenth of the time.
// Precondition: no structural fault.
std::uint64_t fitted_slice(const Plan& plan, Bytes message, const SliceCosts& costs);

// Whether no message's slices are above the eager size.
// Precondition: no structural fault.
bool are_always_eager(const Plan& plan, const SliceCosts& costs);

// The time that the same formula gives for slices of `slice` bytes: the last host has the whole
// message after it, if the network is what the plan was made for. The latencies of the longest ways
// down its trees are added, by what the trees carry (of an allreduce those up the farthest tree and
// down the farthest). 0 for a plan of one host.
// Precondition: no structural fault; slice at least 1.
Seconds pipelined_time(const Plan& plan, Bytes message, Bytes slice, Seconds overhead);

}  // namespace espalier::planner
