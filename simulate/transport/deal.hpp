// Which slice of a message goes along which tree of a plan, for the trees of both kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "planner/plan/plan.hpp"
#include "planner/plan/slice_dealer.hpp"

namespace espalier::simulate {

// Trees are numbered as Flows numbers them: the reduce trees first.
class Deal {
 public:
  // Precondition: no structural fault.
  explicit Deal(const planner::Plan& plan) : up_trees_(plan.reduce_trees.size()) {
    if (up_trees_ > 0) up_.emplace(planner::dealer_up(plan));
    if (!plan.broadcast_trees.empty()) down_.emplace(planner::dealer_down(plan));
  }

  // From here on for a message of so many slices, at least 1, of `slice` bytes.
  void end_at(std::uint64_t slices, Bytes slice) {
    if (up_) up_->end_at(slices, slice);
    if (down_) down_->end_at(slices, slice);
  }

  // Of the reduce and of the broadcast trees, numbered from 0 each; null where there are none.
  [[nodiscard]] const planner::SliceDealer* up() const { return up_ ? &*up_ : nullptr; }
  [[nodiscard]] const planner::SliceDealer* down() const { return down_ ? &*down_ : nullptr; }

  // The slice of the message that `tree` carries as its `nth` (from 0).
  [[nodiscard]] std::uint64_t slice_of(std::size_t tree, std::uint64_t nth) const {
    return tree < up_trees_ ? up_->slice_of(tree, nth) : down_->slice_of(tree - up_trees_, nth);
  }

 private:
  std::size_t up_trees_;
  std::optional<planner::SliceDealer> up_;
  std::optional<planner::SliceDealer> down_;
};

}  // namespace espalier::simulate
