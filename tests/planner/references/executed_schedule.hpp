// A second, simple execution of periodic schedules.
#pragma once

#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::testing {

// Expects that the plan's schedule can be executed on the platform: ports and links keep up with
// it, and from some period on every edge carries its segments in every period, which its sender had
// before.
void expect_executable(const platforms::Platform& platform, const planner::Plan& plan);

}  // namespace espalier::testing
