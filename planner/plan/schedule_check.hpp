// The faults of a plan's periodic schedule that can be found without a platform.
#pragma once

#include <string>

#include "planner/plan/plan.hpp"

namespace espalier::planner {

// Throws InputError (file, JSON pointer, reason) for an operation that has none, figures out of
// range, sends that are not of the plan's trees or do not carry its segments, and, in an allreduce,
// reduce trees that carry more or less than the broadcast trees. Part of check_structure.
// Precondition: the plan has a schedule, and trees without faults.
void check_schedule(const Plan& plan, const std::string& file);

}  // namespace espalier::planner
