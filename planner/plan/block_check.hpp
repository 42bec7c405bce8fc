// What a plan's blocks say as a whole, and their faults; those of their trees are found as for any
// trees.
#pragma once

#include <string>

#include "planner/plan/plan.hpp"

namespace espalier::planner {

// Throws InputError (file, JSON pointer, reason) unless the plan has the blocks of its operation
// (has_blocks_of), with shares that sum to the message, or at most to it where a root's own part
// has no block; none for a broadcast and a reduce. Part of check_structure.
void check_blocks(const Plan& plan, const std::string& file);

// The name of the root of a scatter or a gather, which all its blocks have; of an alltoall: empty.
// Precondition: indices in range.
std::string root_of_routes(const Plan& plan);

}  // namespace espalier::planner
