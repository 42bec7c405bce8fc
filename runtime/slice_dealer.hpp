// Which slice of a message goes along which tree.
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

namespace espalier::runtime {

class SliceDealer {
 public:
  // Rates are finite and positive; at least one.
  explicit SliceDealer(std::span<const double> rates);

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
  [[nodiscard]] std::span<const std::uint32_t> slots_of(std::size_t tree) const {
    return std::span(slots_).subspan(first_slot_[tree], weights_[tree]);
  }

  std::vector<std::uint32_t> weights_;
  std::vector<std::uint32_t> tree_of_slot_;  // one period
  std::vector<std::uint32_t> slots_;         // one period, by tree, ascending
  std::vector<std::size_t> first_slot_;      // of each tree in slots_
};

}  // namespace espalier::runtime
