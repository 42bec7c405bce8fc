// A plan on a platform: whether names match, the links of each edge, and the resulting loads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"
#include "platforms/core/platform.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

// The platform itself; of a broadcast to some of its hosts, their part of it, where the plan's
// nodes are the hosts.
platforms::Platform platform_of(const Plan& plan, platforms::Platform platform);

// The differences between the platform's name and nodes and those in the plan; only the first node
// that differs. Empty when all match.
std::vector<InputError> misfits(const Plan& plan, const platforms::Platform& platform);

// The platform's arcs along one edge of a tree, found from its ends and its `via`, in the direction
// of the data: from parent to child, or from child to parent in a reduce tree (`up`). Throws
// InputError (reason only) for a node or a link that the platform does not have. Precondition: the
// plan's nodes are the platform's hosts.
std::vector<std::uint32_t> arcs_along(const platforms::Platform& platform, const PlanTree& tree,
                                      const PlanEdge& edge, bool up = false);

// The same for all edges of a tree.
lp::RoutedTree links_of(const platforms::Platform& platform, const PlanTree& tree, bool up);

// A resource, and the share of its time that a plan's trees use: 1 is full.
struct ResourceLoad {
  platforms::Resource resource;
  double load = 0;
};
// (sum of rate times A x)_r over the trees of both kinds, one per row of the platform's matrix, in
// its order. Throws as arcs_along does. Precondition: no structural fault, and the plan's nodes are
// the platform's hosts.
std::vector<ResourceLoad> loads_of(const Plan& plan, const platforms::Platform& platform,
                                   const platforms::Occupation& occupation);
std::vector<ResourceLoad> loads_of(const Plan& plan, const Instance& instance);
// Under the plan's own model, with its segments.
std::vector<ResourceLoad> loads_of(const Plan& plan, const platforms::Platform& platform);
// What the plan costs by the platform's prices; unset: it has none. Throws, and requires, the same.
std::optional<PlanCost> cost_on(const Plan& plan, const platforms::Platform& platform);
// How far its sends over long links fall behind (lp/graph/crowding.hpp). Throws, and requires, the
// same.
double crowding_of(const Plan& plan, const platforms::Platform& platform);
// How many of the loads are full, to within rounding (relative 1e-6).
std::size_t full_count(std::span<const ResourceLoad> loads);

}  // namespace espalier::planner
