// The segments that espalier-mpi tune tries others about, where a platform is known.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// In which segments each of the messages, of at least 1 byte, is everywhere first, by simulation of
// the plan on the platform of `file`, which is in Espalier's JSON; in bytes. Links that name no
// overhead have that of `espalier plan --message`. Throws InputError: the file is refused, the plan
// is for another platform, this build has no simulator.
std::vector<std::uint64_t> simulated_segments(const std::string& file, const planner::Plan& plan,
                                              std::span<const Bytes> messages);

}  // namespace espalier::cli
