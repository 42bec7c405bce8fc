// Which slice of a message goes along which tree, as the executor and the simulator deal them.
//
// Slices are dealt in proportion to the trees' rates, as evenly as can be: among the first k
// slices, each tree has its share of k to within one slice, for every k. Every rank computes the
// same deal from the rates alone.
//
// The shares are rounded to whole slices of a period, and the deal repeats with that period, so
// that the table is small however long the message is. Within a period it is
// earliest-deadline-first: a tree of weight w in a period of P may take its m-th slice from slot
// floor((m-1) P/w) on and must have it before slot ceil(m P/w). Baruah, Cohen, Plaxton and Varvel,
// "Proportionate progress", Algorithmica 15 (1996), show that such a schedule exists; for jobs of
// one slot earliest-deadline-first finds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/plan.hpp"

namespace espalier::planner {

// Sends outstanding per child of a tree, unless said otherwise (docs/runtime.md, "Windows").
inline constexpr std::size_t kSendsInFlight = 2;
// The same where a plan reduces: per tree towards the root, and per child of an allreduce's
// broadcast trees. More, for each send is answered by its receiver (docs/runtime.md, "Reductions").
inline constexpr std::size_t kReductionSendsInFlight = 4;
// Receives posted ahead: per tree of a broadcast, per child of a tree of a reduction.
inline constexpr std::size_t kReceivesInFlight = 4;

// How many slices beyond the oldest that it has not sent to all its children the source lets go, in
// the order of the message. Enough for each tree to have its windows full on its average share, and
// some more for uneven shares. windows: the source's largest of each tree, added up. A single tree
// needs it only where a child is `far`: on one port a near child that takes slices as fast as it
// can would leave that one behind. A source without children waits for nobody.
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

class SliceDealer {
 public:
  // Rates are finite and positive; at least one.
  explicit SliceDealer(std::span<const double> rates);
  // In proportion to whole numbers, which a period of their sum keeps exactly; 0: the tree carries
  // none. Their sum is from 1 to 2^32 - 1, and what the table holds.
  static SliceDealer of_counts(std::span<const std::uint64_t> counts);

  [[nodiscard]] std::size_t trees() const { return weights_.size(); }
  // The tree of slice `slice`.
  [[nodiscard]] std::size_t tree_of(std::uint64_t slice) const {
    return tree_of_slot_[slice % tree_of_slot_.size()];
  }
  // The slice that tree `tree` carries as its `nth` (from 0).
  [[nodiscard]] std::uint64_t slice_of(std::size_t tree, std::uint64_t nth) const {
    const std::span<const std::uint32_t> slots = slots_of(tree);
    return nth / slots.size() * tree_of_slot_.size() + slots[nth % slots.size()];
  }
  // How many of the first `slices` slices tree `tree` carries.
  [[nodiscard]] std::uint64_t count(std::size_t tree, std::uint64_t slices) const;

  // Slices of each tree in one period. They say all about the deal.
  [[nodiscard]] std::span<const std::uint32_t> weights() const { return weights_; }

 private:
  explicit SliceDealer(std::vector<std::uint32_t> weights);
  [[nodiscard]] std::span<const std::uint32_t> slots_of(std::size_t tree) const {
    return std::span(slots_).subspan(first_slot_[tree], weights_[tree]);
  }

  std::vector<std::uint32_t> weights_;
  std::vector<std::uint32_t> tree_of_slot_;  // one period
  std::vector<std::uint32_t> slots_;         // one period, by tree, ascending
  std::vector<std::size_t> first_slot_;      // of each tree in slots_
};

// The deal among the plan's trees. Precondition: no structural fault.
SliceDealer dealer_for(std::span<const PlanTree> trees);
// For a plan's broadcast trees.
SliceDealer dealer_for(const Plan& plan);
// By a schedule: the slices of a period before any of the next one.
SliceDealer dealer_for(const PlanSchedule& schedule);

}  // namespace espalier::planner
