// A tree that a caller made, as an algorithm's result.
#pragma once

#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"

namespace espalier::python {

// The tree, in each direction of the operation, at the highest rate that the first full resource
// allows. edges: parent and child by their places among the hosts, in any order; a parent serves
// its children in the order given. An edge that is not a link takes the fastest path. algorithm: of
// messages. Throws InputError where the edges are not a spanning tree from the root, or where an
// edge has no path.
planner::Outcome outcome_along(const planner::Collective& collective, const std::string& algorithm,
                               const std::vector<planner::PlanEdge>& edges);

}  // namespace espalier::python
