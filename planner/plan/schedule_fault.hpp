// What is wrong with a plan's schedule by itself. Part of structural_fault.
#pragma once

#include <optional>

#include "planner/plan/plan.hpp"

namespace espalier::planner {

// Empty when there is no schedule or nothing is wrong with it. Precondition: the rest of the plan
// has no structural fault.
std::optional<PlanFault> schedule_fault(const Plan& plan);

}  // namespace espalier::planner
