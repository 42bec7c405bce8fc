// Which segment of a message goes along which tree, as the executor and the simulator deal them.
//
// Segments are assigned in proportion to the trees' rates, as evenly as can be: among the first k
// segments, each tree has its share of k to within one segment, for every k. Every rank computes
// the same deal from the rates alone.
//
// Where the ways down some trees are longer in time than those down others, those trees end
// earlier, so that all their last hosts are done at once: of a message that takes T, a tree of rate
// x and latency L carries x (T - L), as paths do in Ford and Fulkerson's temporally repeated flows
// ("Constructing maximal dynamic flows from static flows", Operations Research 6 (1958),
// doi:10.1287/opre.6.3.419), not x T until the farthest host is done last. A short message leaves
// out trees of which nothing would come in time.
//
// The shares are rounded to whole segments of a period, and the deal repeats with that period, so
// that the table is small however long the message is. Within a period it is
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

// Sends outstanding per child of a tree, unless said otherwise (docs/runtime.md, "Windows").
inline constexpr std::size_t kSendsInFlight = 2;
// The same where a plan reduces: per tree towards the root, and per child of an allreduce's
// broadcast trees. More, for each send is answered by its receiver (docs/runtime.md, "Reductions").
inline constexpr std::size_t kReductionSendsInFlight = 4;
// Receives posted ahead: per tree of a broadcast, per child of a tree of a reduction.
inline constexpr std::size_t kReceivesInFlight = 4;

// How many segments beyond the oldest that it has not sent to all its children the source lets go,
// in the order of the message. Enough for each tree to have its windows full on its average share,
// and some more for uneven shares. windows: the source's largest of each tree, added up. A single
// tree needs it only where a child is `far`: on one port a near child that takes segments as fast
// as it can would leave that one behind. A source without children waits for nobody.
inline constexpr std::uint64_t source_lookahead(std::size_t trees, std::uint64_t windows,
                                                bool far) {
  return windows == 0 || (trees == 1 && !far) ? UINT64_MAX : 4 * windows;
}
// The same. largest: the source's largest window of each tree, 0 where it has no child there; each
// `base` where there is no latency.
inline std::uint64_t source_lookahead(std::span<const std::uint64_t> largest, std::uint64_t base) {
  std::uint64_t sum = 0;
  bool far = false;
  for (const std::uint64_t window : largest) {
    sum += window;
    far = far || window > base;
  }
  return source_lookahead(largest.size(), sum, far);
}

class SegmentAssignment {
 public:
  // Rates, bytes per second, are finite and positive; at least one. lags_s: per tree, how long
  // what it carries is on its way to its last host, for end_at; empty: alike for all.
  explicit SegmentAssignment(std::span<const double> rates, std::span<const double> lags_s = {});
  // In proportion to whole numbers, which a period of their sum keeps exactly; 0: the tree carries
  // none. Their sum is from 1 to 2^32 - 1, and what the table holds.
  static SegmentAssignment of_counts(std::span<const std::uint64_t> counts);

  // From here on the deal is that of a message of so many segments (none: as of one) of `segment`
  // bytes, at least 1. Without it, and where no tree lags, the message has no end.
  void end_at(std::uint64_t message_segments, Bytes segment);

  [[nodiscard]] std::size_t trees() const { return weights_.size(); }
  // The tree of segment `segment`.
  [[nodiscard]] std::size_t tree_of(std::uint64_t segment) const {
    if (segment >= end_.first) return end_.tree_of[segment - end_.first];
    return tree_of_slot_[segment % tree_of_slot_.size()];
  }
  // The segment that tree `tree` carries as its `nth` (from 0); of those that a message which ends
  // does not have, one after all of it, the later the larger nth is.
  [[nodiscard]] std::uint64_t segment_of(std::size_t tree, std::uint64_t nth) const {
    if (!end_.tree_of.empty() && nth >= end_.before[tree]) return end_.segment_of(tree, nth);
    const std::span<const std::uint32_t> slots = slots_of(tree);
    return nth / slots.size() * tree_of_slot_.size() + slots[nth % slots.size()];
  }
  // How many of the first `segments` segments tree `tree` carries.
  [[nodiscard]] std::uint64_t count(std::size_t tree, std::uint64_t segments) const;

  // Segments of each tree in one period. They say all about the deal, but for its end.
  [[nodiscard]] std::span<const std::uint32_t> weights() const { return weights_; }

 private:
  // The segments of a message from `first` on, among which trees end one after the other.
  struct End {
    std::uint64_t first = UINT64_MAX;
    std::vector<std::uint32_t> tree_of;                // per segment
    std::vector<std::uint64_t> before;                 // per tree: how many it has of the others
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
  std::vector<double> rates_;                // with lags_s_ only
  std::vector<double> lags_s_;               // empty: all alike
  End end_;
};

// The deal among some of a plan's trees, whose latencies are not minded. Precondition: no
// structural fault.
SegmentAssignment assignment_for(std::span<const PlanTree> trees);
// Among a plan's trees of one kind, which lag by their latencies (latency_of). Those of an
// allreduce do not, for what goes out depends on what comes in. Precondition: it has trees of that
// kind.
SegmentAssignment assignment_up(const Plan& plan);
SegmentAssignment assignment_down(const Plan& plan);
// By a schedule: the segments of a period before any of the next one.
SegmentAssignment assignment_for(const PlanSchedule& schedule);

}  // namespace espalier::planner
