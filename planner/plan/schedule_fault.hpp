// The faults of a plan's schedule that can be found without a platform. Part of structural_fault.
#pragma once

#include <optional>

#include "planner/plan/plan.hpp"

namespace espalier::planner {

// The first fault; empty when there is no schedule or it has no fault. Precondition: the rest of
// the plan has no structural fault.
std::optional<PlanFault> schedule_fault(const Plan& plan);

}  // namespace espalier::planner
