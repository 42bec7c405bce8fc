// What `show` says of a plan.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "planner/check/plan_on_platform.hpp"
#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// For people: facts, a row a tree, and the busiest resources, at most `top` of them.
// loads: of all resources, the busiest first. Precondition: the plan fits the platform.
std::string plan_tables(const planner::Plan& plan, const platforms::Platform& platform,
                        std::span<const planner::ResourceLoad> loads, std::size_t top);
// The same in full (docs/cli.md); `top` limits the resources all the same.
Json plan_json(const planner::Plan& plan, const platforms::Platform& platform,
               std::span<const planner::ResourceLoad> loads, std::size_t top);

}  // namespace espalier::cli
