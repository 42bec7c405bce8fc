// Which segment of a message goes along which tree, for the executor and the simulator.
//
// Segments are assigned in proportion to the trees' rates, as evenly as possible: among the first k
// segments, each tree has its share of k to within one segment, for every k. Every rank computes
// the same assignment from the rates alone.
//
// Trees with higher latency end earlier, so that the last hosts of all trees finish at the same
// time: of a message that takes T, a tree of rate x and latency L carries x (T - L), as paths do in
// Ford and Fulkerson's temporally repeated flows ("Constructing maximal dynamic flows from static
// flows", Operations Research 6 (1958), doi:10.1287/opre.6.3.419). Without this it would carry x T,
// and its last host would finish later than the others. For a short message, trees whose first
// segment would arrive too late are left out.
//
// The shares are rounded to whole segments of a period, and the assignment repeats with that
// period, so the table is small for any message length. Within a period it is
// earliest-deadline-first: a tree of weight w in a period of P may take its m-th segment from slot
// floor((m-1) P/w) on and must have it before slot ceil(m P/w). Baruah, Cohen, Plaxton and Varvel,
// "Proportionate progress", Algorithmica 15 (1996), show that such a schedule exists; for jobs of
// one slot earliest-deadline-first finds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"

namespace espalier::planner {

// Default number of outstanding sends per child of a tree (docs/runtime.md, "Windows").
inline constexpr std::size_t kSendsInFlight = 2;
// The same for plans that reduce: per tree towards the root, and per child of an allreduce's
// broadcast trees. Larger, because each send waits for an answer of its receiver (docs/runtime.md,
// "Reductions").
inline constexpr std::size_t kReductionSendsInFlight = 4;
// Receives posted in advance: per tree of a broadcast, per child of a tree of a reduction.
inline constexpr std::size_t kReceivesInFlight = 4;

// The source's lookahead: how many segments it injects, in message order, beyond the oldest one
// that it has not sent to all its children. Enough to keep the windows of each tree full at its
// average share, and some more for uneven shares. windows: the sum over trees of the source's
// largest window. A single tree needs a limit only where a child has a high latency: a low-latency
// child on the same port that takes segments as fast as it can would starve it. A source without
// children has no limit.
inline constexpr std::uint64_t source_lookahead(std::size_t trees, std::uint64_t windows,
                                                bool high_latency) {
  return windows == 0 || (trees == 1 && !high_latency) ? UINT64_MAX : 4 * windows;
}
// The same. largest: the source's largest window of each tree, 0 where it has no child there. A
// window above `base` means a high-latency child.
inline std::uint64_t source_lookahead(std::span<const std::uint64_t> largest, std::uint64_t base) {
  std::uint64_t sum = 0;
  bool high_latency = false;
  for (const std::uint64_t window : largest) {
    sum += window;
    high_latency = high_latency || window > base;
  }
  return source_lookahead(largest.size(), sum, high_latency);
}

class SegmentAssignment {
 public:
  // Rates, bytes per second, are finite and positive; at least one. lags_s: per tree, the latency
  // to its last host, for end_at; empty: equal for all.
  explicit SegmentAssignment(std::span<const double> rates, std::span<const double> lags_s = {});
  // In proportion to whole numbers, exactly, with a period of their sum; 0: the tree carries none.
  // Their sum is from 1 to 2^32 - 1; it is the size of the table.
  static SegmentAssignment of_counts(std::span<const std::uint64_t> counts);

  // Fits the assignment to a message of `message_segments` segments (0 counts as 1) of `segment`
  // bytes, at least 1. Without this call, and where all lags are equal, the message has no end.
  void end_at(std::uint64_t message_segments, Bytes segment);

  [[nodiscard]] std::size_t trees() const { return weights_.size(); }
  // The tree of segment `segment`.
  [[nodiscard]] std::size_t tree_of(std::uint64_t segment) const {
    if (segment >= end_.first) return end_.tree_of[segment - end_.first];
    return tree_of_slot_[segment % tree_of_slot_.size()];
  }
  // The segment that tree `tree` carries as its `nth` (from 0). Beyond the end of the message: an
  // index after the last segment, increasing with nth.
  [[nodiscard]] std::uint64_t segment_of(std::size_t tree, std::uint64_t nth) const {
    if (!end_.tree_of.empty() && nth >= end_.before[tree]) return end_.segment_of(tree, nth);
    const std::span<const std::uint32_t> slots = slots_of(tree);
    return nth / slots.size() * tree_of_slot_.size() + slots[nth % slots.size()];
  }
  // How many of the first `segments` segments tree `tree` carries.
  [[nodiscard]] std::uint64_t count(std::size_t tree, std::uint64_t segments) const;

  // Segments of each tree in one period. They determine the assignment, except for its end.
  [[nodiscard]] std::span<const std::uint32_t> weights() const { return weights_; }

 private:
  // The segments of a message from `first` on, in which trees end one after the other.
  struct End {
    std::uint64_t first = UINT64_MAX;
    std::vector<std::uint32_t> tree_of;                // per segment
    std::vector<std::uint64_t> before;                 // per tree: its segments before `first`
    std::vector<std::vector<std::uint64_t>> segments;  // per tree
    std::uint64_t message = 0;                         // in segments
    Bytes segment{};

    [[nodiscard]] std::uint64_t segment_of(std::size_t tree, std::uint64_t nth) const {
      const std::uint64_t own = nth - before[tree];
      if (own < segments[tree].size()) return segments[tree][own];
      return message + (own - segments[tree].size()) * segments.size() + tree;
    }
  };

  explicit SegmentAssignment(std::vector<std::uint32_t> weights);
  [[nodiscard]] double duration_s(double message_bytes) const;
  [[nodiscard]] std::span<const std::uint32_t> slots_of(std::size_t tree) const {
    return std::span(slots_).subspan(first_slot_[tree], weights_[tree]);
  }

  std::vector<std::uint32_t> weights_;
  std::vector<std::uint32_t> tree_of_slot_;  // one period
  std::vector<std::uint32_t> slots_;         // one period, by tree, ascending
  std::vector<std::size_t> first_slot_;      // of each tree in slots_
  std::vector<double> rates_;                // only with lags_s_
  std::vector<double> lags_s_;               // empty: all equal
  End end_;
};

// The assignment among some of a plan's trees, ignoring latencies. Precondition: no structural
// fault.
SegmentAssignment assignment_for(std::span<const PlanTree> trees);
// The assignment among a plan's reduce trees or broadcast trees, with their latencies (latency_of)
// as lags. An allreduce ignores latencies, because what its root sends depends on what it receives.
// Precondition: the plan has trees of that kind.
SegmentAssignment assignment_up(const Plan& plan);
SegmentAssignment assignment_down(const Plan& plan);
// The assignment of a schedule: all segments of a period before any of the next one.
SegmentAssignment assignment_for(const PlanSchedule& schedule);

}  // namespace espalier::planner
