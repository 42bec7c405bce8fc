// Where a plan loses throughput against the optimum (`explain --plan`), as text and as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "cli/common/report.hpp"
#include "planner/explain/plan_loss.hpp"
#include "planner/plan/plan.hpp"

namespace espalier::cli {

struct ExplainedPlan {
  std::string file;  // its name in messages
  planner::Plan plan;
  planner::PlanLoss loss;
  double busiest_load = 0;
  std::string busiest_resource;
};
// At most `top` rows of each table; in JSON the object "plan".
void add_plan_loss(Report& report, const ExplainedPlan& explained, std::size_t top);

}  // namespace espalier::cli
