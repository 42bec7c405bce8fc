// The time of one message along one tree when it is sent as a whole: no segments, no pipeline.
#pragma once

#include "lp/graph/routed_tree.hpp"
#include "planner/problem/instance.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// The time at which the last host has all of `message`, sent from the instance's source at time 0
// along `tree` (which spans the hosts; the order of its edges matters among siblings only). A host
// that has the message sends it to its children in their order. A send begins as soon as the sender
// has the message, it is the child's turn, and every resource on the path is free. It then occupies
// each resource r of the path for A[r] * message seconds, with A summed over the path's arcs; the
// child has the message after the longest of these times plus the latencies of the path. Of sends
// that wait for one resource, the one that can begin first is served first; if equal, the one whose
// edge is listed first. Under one-port this is the model of Bhat, Raghavendra, Prasanna, JPDC 63
// (2003), except that latencies delay and do not occupy.
//
// Where links have overheads, A contains one per segment of the instance's segment size. Latencies
// that occupy are already in A and add no delay. 0 for a tree without edges. Memory O(n); time O(n
// log n) heap steps plus the sum of the paths' lengths where sends do not wait for each other.
Seconds atomic_makespan(const Instance& instance, const lp::RoutedTree& tree, Bytes message);

}  // namespace espalier::planner
