// Trees of the same throughput whose last hosts receive their first segment earlier
// (docs/decisions/0013-trees-that-end-early.md), by bisection of the limit on latency.
#pragma once

#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

// `trees`, jointly feasible, or other trees that carry as much, or (1 - limits.gap) of the
// packing's bound: no more of them, no larger out-degree of a host in any of them, and a smaller
// mean segment_travel_time (lp/graph/tree_routes.hpp), weighted by rate. Unchanged where no arc has
// a latency, and where arcs between hosts times hosts exceed a million, because it would take long.
// packing: of the same problem.
TreesFound lower_latency(const PackingProblem& problem, const Packing& packing,
                         std::vector<PackedTree> trees, const Limits& limits = {});

}  // namespace espalier::lp
