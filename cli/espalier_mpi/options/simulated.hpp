// The segment sizes around which espalier-mpi tune searches when a platform is given.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// For each message (at least 1 byte) the segment size, in bytes, with which the plan's simulation
// on the platform of `file` ends first. Throws InputError when the file is invalid, the plan is for
// another platform, or this build has no simulator.
std::vector<std::uint64_t> simulated_segments(const std::string& file, const planner::Plan& plan,
                                              std::span<const Bytes> messages);

}  // namespace espalier::cli
