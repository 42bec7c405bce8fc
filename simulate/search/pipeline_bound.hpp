// The classical formula of a pipeline, for any trees on any resources: what a message takes at
// least.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan/segment_assignment.hpp"
#include "simulate/transport/assignments.hpp"
#include "simulate/transport/task.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// No run of `task` that keeps to simulate/simulate.hpp's rules ends before
//   max over resources r of  (fill + busy + drain),
// fill: until the first segment can have come to where r is needed, along the tree, segment by
// segment; busy: what all segments of all trees keep r occupied for; drain: from r's last segment
// until the last host below has it. For one tree of equal segments and its busiest port that is the
// formula of pipelined broadcasts, (segments) * period + time of a segment along the deepest way:
// Chan, Heimlich, Purkayastha, van de Geijn, "Collective communication", Concurrency and
// Computation 19 (2007), doi:10.1002/cpe.1206. A run is longer where hosts wait for each other.
//
// In a reduction segments go the other way, each host adding its children's one after the other,
// and processors are resources too; in an allreduce what is combined at the root goes out again.
// Nor can an edge of a reduce tree carry more than `receives` segments while one is in flight.
// deal: of the task's plan. resources: rows of A. O(edges and what they hold).
Seconds pipeline_bound(const Task& task, const Assignments& assignments, std::size_t resources,
                       std::uint64_t receives = planner::kReceivesInFlight);

}  // namespace espalier::simulate
