// The facts of a page (`report`): what the commands show, bottlenecks and upgrades (`explain`),
// algorithms and the cost of plans (`compare`), plans (`show`), and a trace (`simulate`).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/plan_loss_report.hpp"
#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"
#include "render/page/page.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// The problem whose bottlenecks and algorithms a page shows.
struct PageProblem {
  planner::Operation operation{};
  std::optional<platforms::NodeId> root{};  // unset: there are several, or none
  platforms::Model model{};
  platforms::OccupationOptions occupation{};
  planner::Receipts receipts{};
  planner::AlgorithmOptions limits{};  // of each step
  std::size_t top = 0;
};

// Whether the plan is one for this problem.
bool is_for(const planner::Plan& plan, const PageProblem& problem,
            const platforms::Platform& platform);

// {"operation", "source", "model", "sentences": [what limits], "best": [what would help], "report":
// the object of explain --json, "resources": render::resource_facts, "losses": {plan's number:
// [where it loses]}}.
Json problem_facts(const PageProblem& problem, const platforms::Platform& platform,
                   std::span<const LoadedPlan> plans, const Console& console);

// Its figures, "trees" and "resources".
Json plan_facts(const LoadedPlan& plan, const platforms::Platform& platform,
                render::PageContents& contents);

// [{"why", "command"}]: what to type next. platform_file: as the user gave it.
Json command_facts(const std::string& platform_file, const PageProblem& problem,
                   const platforms::Platform& platform, std::span<const LoadedPlan> plans);

}  // namespace espalier::cli
