// The faults of a plan's blocks as a whole; those of their trees are found as for any trees.
#pragma once

#include <string>

#include "planner/plan/plan.hpp"

namespace espalier::planner {

// Throws InputError (file, JSON pointer, reason) unless the plan has the blocks of its operation:
// one for each node as its root, of the operation's kind, after no other, with shares that sum to
// 1; none for an operation with one root. Part of check_structure.
void check_blocks(const Plan& plan, const std::string& file);

}  // namespace espalier::planner
