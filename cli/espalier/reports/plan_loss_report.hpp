// Where a plan loses throughput against the optimum (`explain --plan`), as text and as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "cli/common/report.hpp"
#include "planner/check/verify.hpp"
#include "planner/explain/plan_loss.hpp"
#include "planner/plan/plan.hpp"

namespace espalier::cli {

// A plan as a file has it, and what `verify` says about it.
struct LoadedPlan {
  std::string file{};  // its name in messages
  planner::Plan plan{};
  planner::VerifyReport report{};  // without faults
};

// At most `top` rows of each table; in JSON the object "plan".
void add_plan_loss(Report& report, const LoadedPlan& loaded, const planner::PlanLoss& loss,
                   std::size_t top);

}  // namespace espalier::cli
