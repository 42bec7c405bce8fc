// The engine of a plan that is bound to a communicator.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/api/bound_plan.hpp"
#include "runtime/memory/host_ring.hpp"
#include "runtime/transport/mpi_engine.hpp"

namespace espalier::runtime {

// What a rank does that waits for the other ranks' calls of a reduction.
inline constexpr std::string_view kComparingCalls = "comparing the calls of the ranks";

// The engine of the plan's operation: a block for the reduce trees, and one for the broadcast
// trees, which follows it in an allreduce. rings: of this rank, for the broadcast trees, with the
// readers of each rank's ring (ring_readers); null: none. Throws MpiError.
std::unique_ptr<MpiEngine> engine_of(const BoundPlan& bound,
                                     std::shared_ptr<HostRings> rings = nullptr,
                                     std::span<const std::vector<int>> readers_of = {});

}  // namespace espalier::runtime
