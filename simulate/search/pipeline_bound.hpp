// The classical pipeline formula, generalized to any trees on any resources: a lower bound on the
// time of a message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan/segment_assignment.hpp"
#include "simulate/transport/assignments.hpp"
#include "simulate/transport/task.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// No run of `task` by the rules of simulate/simulate.hpp ends before
//   max over resources r of  (fill + busy + drain),
// fill: the earliest time at which a first segment can reach r along its tree;
// busy: the time for which all segments of all trees occupy r;
// drain: the least time from r's last segment until the last host below has it.
// For one tree of equal segments and its busiest port this is the formula of pipelined broadcasts,
// (segments) * period + time of a segment along the deepest path: Chan, Heimlich, Purkayastha, van
// de Geijn, "Collective communication", Concurrency and Computation 19 (2007),
// doi:10.1002/cpe.1206. A run takes longer if hosts wait for each other.
//
// In a reduction segments flow in the opposite direction, each host adds its children's segments
// one after the other, and processors are resources too. In an allreduce the combined segments flow
// from the root again. Also, an edge of a reduce tree has at most `receives` segments in flight.
// assignments: of the task's plan. resources: rows of A. O(edges and their holdings).
Seconds pipeline_bound(const Task& task, const Assignments& assignments, std::size_t resources,
                       std::uint64_t receives = planner::kReceivesInFlight);

}  // namespace espalier::simulate
