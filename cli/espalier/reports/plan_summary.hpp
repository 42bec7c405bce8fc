// What `espalier plan` prints of the plans that it made.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cli/espalier/run.hpp"
#include "planner/plan/plan.hpp"
#include "simulate/search/choose_plan.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// The result for one value of --max-trees and one of --max-depth or --max-latency.
struct PlanAttempt {
  std::size_t max_trees;  // 0: not given
  std::size_t max_depth;  // 0: not given
  std::optional<Seconds> max_latency;
  Run run;
  planner::Plan plan;
  std::optional<Seconds> makespan;
  Bytes message;                             // size for the makespan
  std::optional<simulate::Choice> choice{};  // set if the plan was chosen for the message
  std::optional<BytesPerSecond> compute{};   // assumed rate of combining for the choice
  // Set if the plan was chosen for its deadline: no plan as fast costs less, which is proven.
  std::optional<double> least_per_GB{};
};

// A row for each attempt, and the choice of the last one.
Report plan_summary(const std::vector<PlanAttempt>& attempts);

}  // namespace espalier::cli
