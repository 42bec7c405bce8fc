// The run by a plan's periodic schedule (docs/model.md, "Schedules").
//
// All periods are alike, so nothing needs to be stepped through: an edge of tree k carries batch b
// of the tree's segments[k] segments in period b + delay, counted from 0, at the times of its
// pieces. A host's edges begin in the first period by whose start the batch has arrived there
// whole, its latency included: that is what causality asks for, and no more. The last batch has
// what is left of the message, shared out among the trees as the batches are; its segments take the
// first pieces.
//
// The ports are checked by planner/verify_schedule, when the Simulator is made.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/plan/plan.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/task.hpp"

namespace espalier::simulate {

struct BatchedAssignment {
  std::vector<std::uint64_t> segments;  // of each tree
  std::uint32_t last_tree;              // one that has segments in the last batch
};
// How many of `segments` (at least 1) each tree carries: whole batches, and its share of what is
// left, by largest remainder. std::invalid_argument for a schedule without segments.
BatchedAssignment assign_in_batches(const planner::PlanSchedule& schedule, std::uint64_t segments);

// When each host has all its segments, in seconds. segment_bytes: the plan's.
std::vector<double> follow_schedule(const Task& task, const planner::PlanSchedule& schedule,
                                    double segment_bytes, const OnSend& on_send);

}  // namespace espalier::simulate
