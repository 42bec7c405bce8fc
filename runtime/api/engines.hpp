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

// The rings by which ranks of a host pass segments, if the options let them choose.
struct RingsOfPlan {
  std::vector<RingPlan> sums;    // of the reduce trees
  std::vector<RingPlan> copies;  // of the broadcast trees
};
RingsOfPlan rings_of(const BoundPlan& bound);

// The engine of the plan's operation: a block for the reduce trees, and one for the broadcast
// trees, which follows it in an allreduce. rings: those of the plan, first those for sums, as
// share_rings has returned them; null: none. Throws MpiError.
std::unique_ptr<MpiEngine> engine_of(const BoundPlan& bound,
                                     std::shared_ptr<HostRings> rings = nullptr,
                                     const RingsOfPlan& planned = {});

}  // namespace espalier::runtime
