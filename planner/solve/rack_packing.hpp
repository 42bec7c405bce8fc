// Packings of networks in which several hosts share a switch, found with one host for each of these
// racks (lp/fabric/racks.hpp): many times smaller where links between racks are thin.
#pragma once

#include <optional>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "planner/problem/collective_problem.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"

namespace espalier::planner {

// A packing of the whole, with few and shallow trees for a plan, in at most half of the time; its
// bound and prices are proven on the whole, its `end` is kGapReached only where the gap is. Unset:
// it has no racks, or fewer than 64 hosts, or the time was too short.
std::optional<lp::Packing> rack_packing(const Instance& instance, const AlgorithmOptions& options,
                                        Purpose purpose);
// The same of a collective, whose trees are those of its problem. An allreduce reduces along its
// broadcast's trees reversed.
std::optional<lp::Packing> rack_packing(const CollectiveProblem& joint,
                                        const Collective& collective,
                                        const AlgorithmOptions& options, Purpose purpose);

}  // namespace espalier::planner
