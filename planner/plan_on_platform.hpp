// A plan laid onto a platform: whether its names fit, and which links its edges are.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/plan.hpp"
#include "platforms/platform.hpp"

namespace espalier::planner {

// How the plan's platform name and nodes differ from the platform's, as (JSON pointer, reason);
// empty when they do not. Of nodes that differ the first.
std::vector<PlanFault> misfits(const Plan& plan, const platforms::Platform& platform);

// The platform's arcs along one edge of a tree, from its ends and its `via` alone. Throws
// InputError (reason only): a node or a link that the platform does not have.
// Precondition: the plan's nodes are the platform's hosts.
std::vector<std::uint32_t> arcs_along(const platforms::Platform& platform, const PlanTree& tree,
                                      const PlanEdge& edge);

}  // namespace espalier::planner
