// The report of `show` on a plan.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "planner/check/plan_on_platform.hpp"
#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// Text: figures, a row per tree, and the busiest resources, at most `top` of them. loads: of all
// resources, busiest first. Precondition: the plan fits the platform.
std::string plan_tables(const planner::Plan& plan, const platforms::Platform& platform,
                        std::span<const planner::ResourceLoad> loads, std::size_t top);
// The same with all figures (docs/cli.md); at most `top` resources.
Json plan_json(const planner::Plan& plan, const platforms::Platform& platform,
               std::span<const planner::ResourceLoad> loads, std::size_t top);

}  // namespace espalier::cli
