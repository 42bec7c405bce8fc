// A plan's periodic schedule as ranks follow it: in which order each rank sends and receives
// segments (docs/model.md, "Schedules").
//
// The executor sends segments whole. A schedule cuts them anywhere, so an edge's bytes of a period
// are divided into equal slots, of a segment each, and the slots of all edges stand in one order:
// period by period, and in a period by the middle of the time that a slot has. A rank sends in that
// order, and receives in it. No clock is looked at: a send waits until its receiver has come to it
// (MPI_Issend), and so each rank goes from matching to matching when its partners do.
//
// An edge begins with its first segment in the first slot by which causality lets it: each slot of
// the tree's next edge starts when the segment has come, latency included. That is counted in
// segments; nobody waits for a whole period's to come. While the pipeline fills and drains, and
// where a message is shorter than a period, slots whose segment the message does not have are
// passed over, by both ends.
//
// No deadlock. Both ends of an edge know its slots from the plan alone, so they agree on which
// segment each is for. Take the first slot in the order that is not over anywhere. Both its ends
// are through with all slots before it, so they have come to it. Its sender has the segment, for
// the slot by which it came stands before this one, and the source has it as it reads ahead by two
// periods at least. Its receiver has room: where room is short, as much as room() says, the segment
// that had it before was sent on in earlier slots. So both have posted their part; the two match
// and complete: a contradiction. Windows let later slots begin early, and take nothing away from
// this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "runtime/engine/tree_role.hpp"

namespace espalier::runtime {

// The slots of one rank that are sends, or those that are receives, and which of them is next.
class SlotOrder {
 public:
  struct Edge {
    std::uint32_t tree = 0;
    std::uint32_t child = 0;  // its place among the rank's children in the tree; of a receive: 0
    std::uint64_t slots = 0;  // in a period, at least 1
    std::uint64_t behind =
        0;  // so many of its first slots, counted over all periods, carry nothing
  };
  struct Slot {
    std::uint32_t edge;   // index into the edges
    std::uint32_t place;  // among the edge's slots of a period
  };
  // slots: of one period, in their order.
  SlotOrder(std::vector<Edge> edges, std::vector<Slot> slots);

  [[nodiscard]] std::span<const Edge> edges() const { return edges_; }
  [[nodiscard]] std::span<const Slot> slots() const { return slots_; }

  void reset() { period_ = first_period_, at_ = 0; }
  // The edge of the next slot that carries a segment. end_of(tree): how many segments the message
  // has there. Precondition: one is left.
  template <class EndOf>
  const Edge& next(const EndOf& end_of) {
    for (;; pass()) {
      const Edge& edge = edges_[slots_[at_].edge];
      const std::uint64_t index = period_ * edge.slots + slots_[at_].place;
      if (index >= edge.behind && index - edge.behind < end_of(edge.tree)) return edge;
    }
  }
  // It has been begun.
  void pass() {
    if (++at_ < slots_.size()) return;
    at_ = 0;
    ++period_;
  }

 private:
  std::vector<Edge> edges_;
  std::vector<Slot> slots_;
  std::uint64_t first_period_ = 0;  // in which a slot carries a segment
  std::uint64_t period_ = 0;
  std::size_t at_ = 0;
};

// What one rank does by the schedule.
struct Timetable {
  SlotOrder sends;
  SlotOrder receives;
  std::uint64_t segments = 0;  // of all trees in a period
};

// Why a plan cannot be run by its schedule, as (JSON pointer, reason); empty when it can: it has
// one, of no more slots than a rank can hold. Precondition: no structural fault.
std::optional<planner::PlanFault> timetable_fault(const planner::Plan& plan);

// The slots of all edges of a plan: alike on all ranks.
class Slots {
 public:
  // Precondition: timetable_fault finds nothing.
  explicit Slots(const planner::Plan& plan);

  // Which segment of a message goes along which tree: all of a period before any of the next.
  [[nodiscard]] planner::SegmentAssignment assignment() const;
  // Of each tree a rank needs room for so many segments, for nobody to wait indefinitely.
  [[nodiscard]] std::uint64_t room() const { return room_; }
  // The time until the last edge begins, for segments of that size.
  [[nodiscard]] Seconds fill(Bytes segment) const;
  // rank_of_node[i] is the rank of plan.nodes[i]; roles: this rank's.
  [[nodiscard]] Timetable of_rank(std::span<const int> rank_of_node, int rank,
                                  std::span<const TreeRole> roles) const;

 private:
  // When a slot's segment is sent, in seconds since the period began.
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
  std::uint64_t room_ = 1;
  double fill_ = 0;
  // [tree][node], of the edge into it
  std::vector<std::vector<std::vector<planner::ScheduledSend>>> sends_;
  std::vector<std::vector<std::uint64_t>> behind_;
};

}  // namespace espalier::runtime
