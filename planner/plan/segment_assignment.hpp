// Which segment of a message goes along which tree, for the executor and the simulator: in
// proportion to the trees' rates, as evenly as possible, and less along trees of higher latency, so
// that all end together (docs/methods.md, "Segments to trees"). Every rank computes the same from
// the rates alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
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
// that it has not sent to all its children: enough to keep each tree's windows full. windows: the
// sum over trees of the source's largest window. A single tree needs a limit only where a child has
// a high latency, as a low-latency child on the same port would starve it.
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
  // bytes, at least 1. Without this call, where all lags are equal, and where the lags span more
  // than a million segments, the message has no end.
  void end_at(std::uint64_t message_segments, Bytes segment);

  [[nodiscard]] std::size_t trees() const { return period_->weights.size(); }
  // The tree of segment `segment`.
  [[nodiscard]] std::size_t tree_of(std::uint64_t segment) const {
    if (segment >= end_.first) return end_.tree_of[segment - end_.first];
    return period_->tree_of_slot[segment % period_->tree_of_slot.size()];
  }
  // The segment that tree `tree` carries as its `nth` (from 0). Beyond the end of the message: an
  // index after the last segment, increasing with nth.
  [[nodiscard]] std::uint64_t segment_of(std::size_t tree, std::uint64_t nth) const {
    if (!end_.tree_of.empty() && nth >= end_.before[tree]) return end_.segment_of(tree, nth);
    const std::span<const std::uint32_t> slots = slots_of(tree);
    return nth / slots.size() * period_->tree_of_slot.size() + slots[nth % slots.size()];
  }
  // How many of the first `segments` segments tree `tree` carries.
  [[nodiscard]] std::uint64_t count(std::size_t tree, std::uint64_t segments) const;

  // Segments of each tree in one period. They determine the assignment, except for its end.
  [[nodiscard]] std::span<const std::uint32_t> weights() const { return period_->weights; }

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

  struct Period {
    explicit Period(std::vector<std::uint32_t> weights);
    std::vector<std::uint32_t> weights;
    std::vector<std::uint32_t> tree_of_slot;
    std::vector<std::uint32_t> slots;     // by tree, ascending
    std::vector<std::size_t> first_slot;  // of each tree in slots
  };

  explicit SegmentAssignment(std::vector<std::uint32_t> weights)
      : period_(std::make_shared<const Period>(std::move(weights))) {}
  [[nodiscard]] double duration_s(double message_bytes) const;
  [[nodiscard]] std::span<const std::uint32_t> slots_of(std::size_t tree) const {
    return std::span(period_->slots).subspan(period_->first_slot[tree], period_->weights[tree]);
  }

  // Shared by copies: all ranks of a simulated call have one.
  std::shared_ptr<const Period> period_;
  std::vector<double> rates_;   // only with lags_s_
  std::vector<double> lags_s_;  // empty: all equal
  End end_;
};

// The assignment among some of a plan's trees, ignoring latencies. Precondition: no structural
// fault.
SegmentAssignment assignment_for(std::span<const PlanTree> trees);
// The assignment among a block's trees, with their latencies (latency_of) as lags.
SegmentAssignment assignment_with_lags(const PlanTrees& block);
// The same for each of blocks_of(plan). Latencies are ignored where a block comes after another
// one, because what its root sends depends on what it receives.
std::vector<SegmentAssignment> assignments_of(const Plan& plan);
// The same by the plan's schedule: all segments of a period before any of the next one.
// Precondition: the plan has a schedule.
std::vector<SegmentAssignment> assignments_by_schedule(const Plan& plan);

}  // namespace espalier::planner
