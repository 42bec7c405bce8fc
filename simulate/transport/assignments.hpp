// The assignment of a message's segments to a plan's trees, for the trees of both kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"

namespace espalier::simulate {

// Trees are numbered as in Flows: the reduce trees first.
class Assignments {
 public:
  // Precondition: no structural fault.
  explicit Assignments(const planner::Plan& plan)
      : up_trees_(plan.reduce_trees.size()),
        has_down_(!plan.broadcast_trees.empty()),
        blocks_(planner::assignments_of(plan)) {}

  // Sets the message: `segments` segments, at least 1, of `segment` bytes.
  void end_at(std::uint64_t segments, Bytes segment) {
    for (planner::SegmentAssignment& block : blocks_) block.end_at(segments, segment);
  }

  // Of the reduce trees and of the broadcast trees, each numbered from 0; null if there are none.
  [[nodiscard]] const planner::SegmentAssignment* up() const {
    return up_trees_ > 0 ? &blocks_.front() : nullptr;
  }
  [[nodiscard]] const planner::SegmentAssignment* down() const {
    return has_down_ ? &blocks_.back() : nullptr;
  }

  // The segment of the message that `tree` carries as its `nth` (from 0).
  [[nodiscard]] std::uint64_t segment_of(std::size_t tree, std::uint64_t nth) const {
    return tree < up_trees_ ? up()->segment_of(tree, nth)
                            : down()->segment_of(tree - up_trees_, nth);
  }

 private:
  std::size_t up_trees_;
  bool has_down_;
  std::vector<planner::SegmentAssignment> blocks_;
};

}  // namespace espalier::simulate
