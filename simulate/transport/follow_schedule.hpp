// The run of a plan's periodic schedule (docs/model.md, "Schedules"), computed without stepping
// through its periods: an edge of tree k carries batch b of the tree's segments[k] segments in
// period b + delay at the times of its pieces; what a host passes on starts in the first period by
// whose begin the whole batch has arrived there, from all children in a reduce tree. The last batch
// carries the rest of the message.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/task.hpp"

namespace espalier::simulate {

struct BatchedAssignment {
  std::vector<std::uint64_t> segments;  // per tree
  std::uint32_t last_tree;              // a tree that has segments in the last batch
};
// How many of `segments` (at least 1) each tree of one kind carries: whole batches, and its share
// of the rest by largest remainder. batch: per tree, PlanSchedule::segments. Throws
// std::invalid_argument if there are none.
BatchedAssignment assign_in_batches(std::span<const std::uint64_t> batch, std::uint64_t segments);

// When each host has all its segments, in seconds. segment_bytes: the plan's.
std::vector<double> follow_schedule(const Task& task, const planner::PlanSchedule& schedule,
                                    double segment_bytes, const OnSend& on_send);

}  // namespace espalier::simulate
