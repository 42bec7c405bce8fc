// Selects the plan for a communicator's calls of one operation with one root.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "planner/plan/plan.hpp"
#include "runtime/preload/planning.hpp"

namespace espalier::preload {

// The same plan with its nodes in rank order: rank i is node i. rank_of_node: a permutation. The
// schedule, which is not used here, is removed.
planner::Plan in_rank_order(const planner::Plan& plan, std::span<const int> rank_of_node);

// `plan` for these members, in rank order. Unset if it is for another operation, or has another
// number of nodes, other hosts, another source (any source is allowed for an allreduce), or no
// share for a rank with a part. With mapping by order, node i of a plan for all of MPI_COMM_WORLD
// is world rank i, whatever the communicator's order; node i of a smaller plan is the
// communicator's rank i. Precondition: no structural fault.
std::optional<planner::Plan> fitted(const planner::Plan& plan, const Members& members,
                                    runtime::RankMapping mapping);

}  // namespace espalier::preload
