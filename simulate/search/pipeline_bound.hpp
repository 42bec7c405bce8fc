// The classical formula of a pipeline, for any trees on any resources: what a message takes at
// least.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan/slice_dealer.hpp"
#include "simulate/transport/deal.hpp"
#include "simulate/transport/task.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// No run of `task` that keeps to simulate/simulate.hpp's rules ends before
//   max over resources r of  (fill + busy + drain),
// fill: until the first slice can have come to where r is needed, along the tree, slice by slice;
// busy: what all slices of all trees keep r occupied for; drain: from r's last slice until the last
// host below has it. For one tree of equal slices and its busiest port that is the formula of
// pipelined broadcasts, (slices) * period + time of a slice along the deepest way: Chan, Heimlich,
// Purkayastha, van de Geijn, "Collective communication", Concurrency and Computation 19 (2007),
// doi:10.1002/cpe.1206. A run is longer where hosts wait for each other.
//
// In a reduction slices go the other way, each host adding its children's one after the other, and
// processors are resources too; in an allreduce what is combined at the root goes out again. Nor
// can an edge of a reduce tree carry more than `receives` slices while one is on its way.
// deal: of the task's plan. resources: rows of A. O(edges and what they hold).
Seconds pipeline_bound(const Task& task, const Deal& deal, std::size_t resources,
                       std::uint64_t receives = planner::kReceivesInFlight);

}  // namespace espalier::simulate
