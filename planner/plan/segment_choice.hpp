// The segment size for a message, by the classical pipeline's formula.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// The costs of segments on a network.
struct SegmentCosts {
  // The fixed cost of a segment on the rank that forwards it, whatever its length.
  Seconds overhead{10e-6};
  // Messages up to this size are sent without asking the receiver first (eager protocol); longer
  // ones wait for its answer, behind all queued data (rendezvous). Unset: asking costs next to
  // nothing.
  std::optional<Bytes> eager;

  // Whether the sender of a segment of `segment` bytes asks the receiver first.
  [[nodiscard]] bool asks(Bytes segment) const { return eager && segment.value > eager->value; }
};

// How segments follow one another along a plan's trees. All edges are looked at once, when it is
// made.
class Pipeline {
 public:
  // Precondition: no structural fault.
  explicit Pipeline(const Plan& plan);

  // The segment size that minimises the time of `message` bytes along the plan's trees, when a
  // segment costs `costs.overhead` for each of its trees' hops (docs/methods.md, "A segment by
  // formula"), with at most kMostInFlight segments in flight along an edge. At least 8 KiB and at
  // most the plan's segment; segments over the eager size are reduced to it where that costs less
  // than a tenth of the time.
  [[nodiscard]] std::uint64_t fitted_segment(Bytes message, const SegmentCosts& costs) const;
  // Whether the segments of every message are within the eager size.
  [[nodiscard]] bool are_always_eager(const SegmentCosts& costs) const;
  // The time by the same formula until the last host has the whole message, with the latencies of
  // the trees' longest paths, weighted by the trees' rates. 0 for a plan of one host. Precondition:
  // segment at least 1.
  [[nodiscard]] Seconds time(Bytes message, Bytes segment, Seconds overhead) const;

 private:
  // blocks: of the plan.
  Pipeline(const Plan& plan, const std::vector<PlanTrees>& blocks);

  std::size_t nodes_;
  Bytes segment_;
  BytesPerSecond throughput_;
  double hops_;  // after the first, summed over the trees
  double turn_;  // segments between what is combined and what is copied
  double latency_s_;
  double most_in_flight_;  // bytes
};

}  // namespace espalier::planner
