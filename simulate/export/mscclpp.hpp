// A plan as an MSCCL++ execution plan (JSON), which its executor runs on GPUs that reach one
// another by memory channels: for each rank threadblocks of operations, where a segment is put into
// the receiver's buffer and signalled, and a receiver that combines adds it from its scratch
// buffer.
//
// Format: docs/design/mscclpp-execution-plan.md in https://github.com/microsoft/mscclpp, and its
// reader src/core/executor/execution_plan.cc; limits: src/core/include/execution_common.hpp.
#pragma once

#include <cstddef>
#include <string>

#include "planner/plan/plan.hpp"
#include "simulate/export/transfers.hpp"

namespace espalier::simulate {

// MAX_OPERATION and MAX_CHANNEL of the executor, per threadblock; and its channels per operation.
inline constexpr std::size_t kMostMscclppOperations = 64;
inline constexpr std::size_t kMostMscclppChannels = 16;
inline constexpr std::size_t kMostMscclppChannelsAtOnce = 8;

// Sizes are in chunks, one for each segment, so that the file is for messages of any size; a last
// segment that is shorter counts as a whole one. Broadcast, allreduce, allgather and reduce-scatter
// are in place. A threadblock has a tree; where one block of the plan follows another, or parts are
// routed, a rank has one threadblock. Throws InputError (place and reason) for other operations,
// for a broadcast to some of the hosts, for parts of different sizes, and for what exceeds the
// limits.
std::string mscclpp_plan(const planner::Plan& plan, const Transfers& transfers);

}  // namespace espalier::simulate
