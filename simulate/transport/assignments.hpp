// The assignment of a message's segments to a plan's trees, for the trees of both kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"

namespace espalier::simulate {

// Trees are numbered as in Flows: the reduce trees first.
class Assignments {
 public:
  // Precondition: no structural fault.
  explicit Assignments(const planner::Plan& plan) : up_trees_(plan.reduce_trees.size()) {
    if (up_trees_ > 0) up_.emplace(planner::assignment_up(plan));
    if (!plan.broadcast_trees.empty()) down_.emplace(planner::assignment_down(plan));
  }

  // Sets the message: `segments` segments, at least 1, of `segment` bytes.
  void end_at(std::uint64_t segments, Bytes segment) {
    if (up_) up_->end_at(segments, segment);
    if (down_) down_->end_at(segments, segment);
  }

  // Of the reduce trees and of the broadcast trees, each numbered from 0; null if there are none.
  [[nodiscard]] const planner::SegmentAssignment* up() const { return up_ ? &*up_ : nullptr; }
  [[nodiscard]] const planner::SegmentAssignment* down() const { return down_ ? &*down_ : nullptr; }

  // The segment of the message that `tree` carries as its `nth` (from 0).
  [[nodiscard]] std::uint64_t segment_of(std::size_t tree, std::uint64_t nth) const {
    return tree < up_trees_ ? up_->segment_of(tree, nth) : down_->segment_of(tree - up_trees_, nth);
  }

 private:
  std::size_t up_trees_;
  std::optional<planner::SegmentAssignment> up_;
  std::optional<planner::SegmentAssignment> down_;
};

}  // namespace espalier::simulate
