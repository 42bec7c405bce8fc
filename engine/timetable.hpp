// The order in which each rank sends and receives segments to follow a plan's periodic schedule
// (docs/model.md, "Schedules"). How slots are made: docs/engine.md.
//
// No deadlock. Both ends of an edge know its slots from the plan alone, so they agree on the
// segment of each slot. Consider the first slot in the order that never completes. Both its ends
// have completed all earlier slots, so they have reached this one. Its sender has the segment: the
// slots in which it arrived, from all children where it is combined, are earlier, and the source
// has it because it reads ahead by at least two periods; of an allreduce because all segments up to
// the end of the slot's batch have arrived at the root in earlier periods. Its receiver has a
// buffer: where segments are copied, with buffer_segments() buffers, where they are combined, with
// Edge::held, the segment that used the buffer before was sent on, or at the root combined, in
// earlier slots. In an allreduce the rank has also sent the segment that comes back to it, so its
// buffer is free, and what has arrived at the root is within two periods of the oldest segment
// there. So both ends have posted their operations, which match and complete: a contradiction.
// Windows only let later slots begin early, so the argument still holds.
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
    std::uint32_t tree = 0;    // over all blocks
    std::uint32_t edge = 0;    // index among the rank's out-edges in the tree, or its in-edges
    std::uint64_t slots = 0;   // in a period, at least 1
    std::uint64_t behind = 0;  // number of its first slots, over all periods, without a segment
    std::uint64_t held = 1;    // of an in-edge: most segments that have arrived but not gone on
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
  std::uint64_t segments = 0;  // of the message in a period
};

// Throws InputError if the plan has no schedule, or one with too many slots to run. Precondition:
// no structural fault.
void require_timetable(const planner::Plan& plan, const std::string& file = {});

// The slots of all edges of a plan; identical on all ranks.
class Slots {
 public:
  // Precondition: require_timetable accepts the plan.
  explicit Slots(const planner::Plan& plan);

  // Of each of planner::blocks_of(plan): assigns the segments of a message to trees, period by
  // period.
  [[nodiscard]] std::vector<planner::SegmentAssignment> assignments() const;
  // The number of segments of each tree that a rank must be able to hold so that no rank waits
  // indefinitely, where segments are only copied.
  [[nodiscard]] std::uint64_t buffer_segments() const { return buffer_segments_; }
  // The time until the last edge begins, for segments of this size.
  [[nodiscard]] Seconds fill(Bytes segment) const;
  // rank_of_node[i] is the rank of plan.nodes[i]; roles: this rank's in the trees of all blocks.
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
  [[nodiscard]] double latency_s(const planner::PlanTree& tree, std::size_t edge) const;
  [[nodiscard]] Course course_of(std::size_t tree, std::uint32_t child) const;
  void set_distances(std::size_t tree, const planner::DirectedTree& of);
  // The number of periods from the first slot of any reduce tree to those in which a batch arrives
  // at the root, and to those in which the root sends it.
  struct Turn {
    std::uint64_t arrives = 0;
    std::uint64_t leaves = 0;
  };
  [[nodiscard]] Turn turn_at_root(std::span<const planner::DirectedTree> trees) const;
  void delay_edges(std::span<const planner::DirectedTree> trees);

  planner::Plan plan_;
  std::uint64_t buffer_segments_ = 1;
  double fill_ = 0;
  // [tree][node], of the edge between the node and its parent: its sends, by how many slots it is
  // later than the root's edges, or earlier in a reduce tree, its delay, and SlotOrder::Edge::held
  std::vector<std::vector<std::vector<planner::ScheduledSend>>> sends_;
  std::vector<std::vector<std::uint64_t>> from_root_;
  std::vector<std::vector<std::uint64_t>> behind_;
  std::vector<std::vector<std::uint64_t>> held_;
};

}  // namespace espalier::engine
