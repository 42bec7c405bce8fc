// The engines of a plan that is bound to a communicator.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/tree_role.hpp"
#include "runtime/api/bound_plan.hpp"
#include "runtime/memory/host_ring.hpp"
#include "runtime/transport/mpi_engine.hpp"

namespace espalier::runtime {

// What a rank does that waits for the other ranks' calls of a reduction.
inline constexpr std::string_view kComparingCalls = "comparing the calls of the ranks";

// The engine of a broadcast. rings: of this rank, with the readers of each rank's ring
// (ring_readers of the plan's broadcast trees); null: none. Throws MpiError.
std::unique_ptr<MpiEngine> broadcast_engine(const BoundPlan& bound,
                                            std::shared_ptr<HostRings> rings,
                                            std::span<const std::vector<int>> readers_of);

// This rank's roles in the trees of a reduction, and its engine.
std::vector<engine::TreeRole> reduce_roles(const BoundPlan& bound);
std::unique_ptr<MpiEngine> reduce_engine(const BoundPlan& bound,
                                         const std::vector<engine::TreeRole>& roles);
// The engine that broadcasts the result of an allreduce. It does not compare calls: the reduction
// has compared them before anything is ready.
std::unique_ptr<MpiEngine> second_half_engine(const BoundPlan& bound);

}  // namespace espalier::runtime
