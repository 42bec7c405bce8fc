// Which plan a communicator's calls of one kind with one root follow.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "planner/plan/plan.hpp"
#include "runtime/preload/planning.hpp"

namespace espalier::preload {

// The same plan with its nodes in the order of the ranks that they are: rank i is node i.
// rank_of_node: a permutation. The schedule, which no executor uses, is left out.
planner::Plan in_rank_order(const planner::Plan& plan, std::span<const int> rank_of_node);

// `plan` for these members, in rank order; nothing where it is for another operation, has
// another number of nodes, other hosts, or another source (which an allreduce may have). By order,
// a plan for the whole world has world rank i as node i, whatever the communicator's order; a
// smaller one the communicator's rank i. Precondition: no structural fault.
std::optional<planner::Plan> fitted(const planner::Plan& plan, const Members& members,
                                    runtime::RankMapping mapping);

}  // namespace espalier::preload
