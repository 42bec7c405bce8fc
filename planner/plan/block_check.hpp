// The faults of a plan's blocks as a whole; those of their trees are found as for any trees.
#pragma once

#include <string>

#include "planner/plan/plan.hpp"

namespace espalier::planner {

// Throws InputError (file, JSON pointer, reason) unless the plan has the blocks of its operation
// (has_blocks_of), with shares that sum to the message, or at most to it where a root's own part
// has no block; none for a broadcast and a reduce. Part of check_structure.
void check_blocks(const Plan& plan, const std::string& file);

}  // namespace espalier::planner
