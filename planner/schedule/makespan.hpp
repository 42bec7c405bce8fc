// How long one message takes along one tree when it goes as a whole: no segments, no pipeline.
#pragma once

#include "lp/graph/routed_tree.hpp"
#include "planner/problem/instance.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// The time at which the last host has all of `message`, sent from the instance's source at time 0
// along `tree` (one that spans the hosts; its edges in any order but for siblings). A host that has
// the message sends it to its children in their order. A send begins as soon as the sender has the
// message, it is the next child's turn, and every resource in flight is free; it then occupies
// each resource r in flight for A[r] * message seconds, with A summed over the way's arcs, and the
// child has the message after the longest of these and the latencies of the way. Of sends that wait
// for one resource the one that can begin first is served, then the one whose edge stands first.
// Under one-port this is the model of Bhat, Raghavendra, Prasanna, JPDC 63 (2003), but that
// latencies delay and do not occupy.
//
// Where links have overheads, A holds one a segment of the instance's segment size; latencies that
// occupy are in A already and delay no more. 0 for a tree without edges. Memory O(n), time
// O(n log n) heap steps and the sum of the ways' lengths where sends do not wait for each other.
Seconds atomic_makespan(const Instance& instance, const lp::RoutedTree& tree, Bytes message);

}  // namespace espalier::planner
