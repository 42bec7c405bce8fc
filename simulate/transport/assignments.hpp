// The assignment of a message's segments to a plan's trees, for the trees of all blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "planner/plan/segment_grid.hpp"

namespace espalier::simulate {

// Trees are numbered as in Flows, over planner::blocks_of(plan): the reduce trees first.
class Assignments {
 public:
  // Precondition: no structural fault.
  explicit Assignments(const planner::Plan& plan)
      : up_trees_(plan.reduce_trees.size()),
        has_down_(!plan.broadcast_trees.empty()),
        blocks_(planner::assignments_of(plan)),
        scales_(blocks_.size(), 1) {
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      const auto first = static_cast<std::uint32_t>(places_.size());
      places_.insert(places_.end(), blocks_[block].trees(), {block, first});
    }
  }

  // Sets the message of each block. At least one has a segment.
  void end_at(std::span<const planner::SegmentGrid> grids) {
    constexpr std::uint64_t kLeast = 1U << 16U;  // distinguishes the turns of short parts
    std::uint64_t most = kLeast;
    for (const planner::SegmentGrid& grid : grids) most = std::max(most, grid.count());
    const bool are_equal = std::ranges::all_of(grids, [&](const planner::SegmentGrid& grid) {
      return grid.count() == grids.front().count();
    });
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      blocks_[block].end_at(grids[block].count(), {grids[block].segment});
      const auto count = static_cast<double>(std::max<std::uint64_t>(grids[block].count(), 1));
      scales_[block] = are_equal ? 1 : static_cast<double>(most) / count;
    }
  }

  [[nodiscard]] std::span<const planner::SegmentAssignment> blocks() const { return blocks_; }

  // Of the reduce trees and of the broadcast trees, each numbered from 0; null if there are none.
  [[nodiscard]] const planner::SegmentAssignment* up() const {
    return up_trees_ > 0 ? &blocks_.front() : nullptr;
  }
  [[nodiscard]] const planner::SegmentAssignment* down() const {
    return has_down_ ? &blocks_.back() : nullptr;
  }

  // The segment of the message that `tree` carries as its `nth` (from 0).
  [[nodiscard]] std::uint64_t segment_of(std::size_t tree, std::uint64_t nth) const {
    const Place& place = places_[tree];
    return blocks_[place.block].segment_of(tree - place.first_tree, nth);
  }
  // When it is due, in an order over all blocks, which begin and end together: the number of the
  // segment where all have equally many, otherwise in proportion.
  [[nodiscard]] std::uint64_t turn_of(std::size_t tree, std::uint64_t nth) const {
    const std::uint64_t segment = segment_of(tree, nth);
    const double scale = scales_[places_[tree].block];
    if (scale == 1) return segment;
    return static_cast<std::uint64_t>((static_cast<double>(segment) + 0.5) * scale);
  }

 private:
  // A tree's.
  struct Place {
    std::uint32_t block;
    std::uint32_t first_tree;  // the block's
  };

  std::size_t up_trees_;
  bool has_down_;
  std::vector<planner::SegmentAssignment> blocks_;
  std::vector<Place> places_;   // of each tree
  std::vector<double> scales_;  // of each block, from its segments to turns
};

}  // namespace espalier::simulate
