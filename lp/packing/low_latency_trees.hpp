// Trees of the same throughput whose last hosts receive their first segment earlier
// (docs/decisions/0013-trees-that-end-early.md), by bisection of the limit on latency.
#pragma once

#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

// Whether some arc has a latency, and arcs times hosts are at most a million, or through relays
// pairs of hosts times hosts at most 10^10: beyond that it would take long.
bool tries_lower_latency(const Digraph& graph);

// What other trees have to carry instead of some that carry `rate`, so that it costs nothing: as
// much, or (1 - limits.gap) of the packing's bound. Bytes per second.
double enough_instead(const Packing& packing, double rate, const Limits& limits);

// `trees`, jointly feasible, or as many others that carry enough_instead and are less crowded
// (lp/graph/crowding.hpp): where they are much so, the root is given, and pairs of hosts are few
// enough. Hosts are moved among the trees as if long links took every resource for their own slow
// time, and the true rates decide. packing: of the same problem.
std::vector<PackedTree> less_crowded(const PackingProblem& problem, const Packing& packing,
                                     std::vector<PackedTree> trees, const Limits& limits = {});

// `trees`, jointly feasible, or other trees that carry enough_instead: no more of them (where any
// host may be the root, twice as many at most), no larger out-degree of a host in any of them, and
// a smaller mean segment_travel_time (lp/graph/tree_routes.hpp), weighted by rate, times the
// crowding above 1. First less_crowded. Unchanged unless tries_lower_latency(). packing: of the
// same problem.
TreesFound lower_latency(const PackingProblem& problem, const Packing& packing,
                         std::vector<PackedTree> trees, const Limits& limits = {});

}  // namespace espalier::lp
