// The order in which each rank sends and receives segments to follow a plan's periodic schedule
// (docs/model.md, "Schedules"). How slots are made: docs/engine.md.
//
// No deadlock. Both ends of an edge know its slots from the plan alone, so they agree on the
// segment of each slot. Consider the first slot in the order that never completes. Both its ends
// have completed all earlier slots, so they have reached this one. Its sender has the segment: the
// slot in which it arrived is earlier, and the source has it because it reads ahead by at least two
// periods. Its receiver has a buffer: with buffer_segments() buffers, the segment that used the
// buffer before was sent on in earlier slots. So both ends have posted their operations, which
// match and complete: a contradiction. Windows only let later slots begin early, so the argument
// still holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/tree_role.hpp"
#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"

namespace espalier::engine {

// The sends, or the receives, of one rank in slot order, with a position that marks the next one.
class SlotOrder {
 public:
  struct Edge {
    std::uint32_t tree = 0;
    std::uint32_t child = 0;   // index among the rank's children in the tree; 0 for a receive
    std::uint64_t slots = 0;   // in a period, at least 1
    std::uint64_t behind = 0;  // number of its first slots, over all periods, without a segment
  };
  struct Slot {
    std::uint32_t edge;   // index into the edges
    std::uint32_t place;  // index among the edge's slots of a period
  };
  // slots: of one period, in order.
  SlotOrder(std::vector<Edge> edges, std::vector<Slot> slots);

  [[nodiscard]] std::span<const Edge> edges() const { return edges_; }
  [[nodiscard]] std::span<const Slot> slots() const { return slots_; }

  void reset() { period_ = first_period_, at_ = 0; }
  // The edge of the next slot that carries a segment. end_of(tree): the number of segments of the
  // message in that tree. Precondition: a segment is left.
  template <class EndOf>
  const Edge& next(const EndOf& end_of) {
    for (;; pass()) {
      const Edge& edge = edges_[slots_[at_].edge];
      const std::uint64_t index = period_ * edge.slots + slots_[at_].place;
      if (index >= edge.behind && index - edge.behind < end_of(edge.tree)) return edge;
    }
  }
  // The operation of this slot has begun; moves to the next slot.
  void pass() {
    if (++at_ < slots_.size()) return;
    at_ = 0;
    ++period_;
  }

 private:
  std::vector<Edge> edges_;
  std::vector<Slot> slots_;
  std::uint64_t first_period_ = 0;  // first period in which a slot carries a segment
  std::uint64_t period_ = 0;
  std::size_t at_ = 0;
};

// The operations of one rank under the schedule.
struct Timetable {
  SlotOrder sends;
  SlotOrder receives;
  std::uint64_t segments = 0;  // of all trees in a period
};

// Throws InputError if the plan has no schedule, or one with too many slots to run. Precondition:
// no structural fault.
void require_timetable(const planner::Plan& plan, const std::string& file = {});

// The slots of all edges of a plan; identical on all ranks.
class Slots {
 public:
  // Precondition: require_timetable accepts the plan.
  explicit Slots(const planner::Plan& plan);

  // Assigns the segments of a message to trees, period by period.
  [[nodiscard]] planner::SegmentAssignment assignment() const;
  // The number of segments of each tree that a rank must be able to hold so that no rank waits
  // indefinitely.
  [[nodiscard]] std::uint64_t buffer_segments() const { return buffer_segments_; }
  // The time until the last edge begins, for segments of this size.
  [[nodiscard]] Seconds fill(Bytes segment) const;
  // rank_of_node[i] is the rank of plan.nodes[i]; roles: this rank's.
  [[nodiscard]] Timetable of_rank(std::span<const int> rank_of_node, int rank,
                                  std::span<const TreeRole> roles) const;

 private:
  // When a slot's segment is sent, in seconds since the start of the period.
  struct Time {
    double start;
    double middle;
    double end;
  };
  // One edge's slots over all periods, numbered from 0.
  class Course;

  [[nodiscard]] std::uint64_t slots_in(std::size_t tree) const {
    return plan_.schedule->segments[tree];
  }
  [[nodiscard]] Course course_of(std::size_t tree, std::uint32_t child) const;
  void delay_edges(std::size_t tree);

  planner::Plan plan_;
  std::uint64_t buffer_segments_ = 1;
  double fill_ = 0;
  // [tree][node]: the sends on the edge into the node
  std::vector<std::vector<std::vector<planner::ScheduledSend>>> sends_;
  std::vector<std::vector<std::uint64_t>> behind_;
};

}  // namespace espalier::engine
