// The engine of a plan that is bound to a communicator.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/api/bound_plan.hpp"
#include "runtime/memory/host_ring.hpp"
#include "runtime/transport/mpi_engine.hpp"

namespace espalier::runtime {

// What a rank does that waits for the other ranks' calls of a reduction.
inline constexpr std::string_view kComparingCalls = "comparing the calls of the ranks";

// The rings by which ranks of a host pass the segments of the broadcast trees, if the options let
// them choose.
std::vector<RingPlan> rings_of(const BoundPlan& bound);

// The engine of the plan's operation, with a block for each of planner::blocks_of; where parts are
// routed, for each of Routes::here. rings: as share_rings has returned them; null: none. Throws
// MpiError.
std::unique_ptr<MpiEngine> engine_of(const BoundPlan& bound,
                                     std::shared_ptr<HostRings> rings = nullptr);

}  // namespace espalier::runtime
