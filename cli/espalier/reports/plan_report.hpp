// The report of `show` on a plan.
#pragma once

#include <cstddef>
#include <span>

#include "cli/common/report.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::cli {

// Figures, a row per tree, and the busiest resources, at most `top` of them. loads: of all
// resources, busiest first. Precondition: the plan fits the platform.
Report plan_report(const planner::Plan& plan, const platforms::Platform& platform,
                   std::span<const planner::ResourceLoad> loads, std::size_t top);

}  // namespace espalier::cli
