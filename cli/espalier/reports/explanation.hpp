// The bottlenecks and what upgrading them would gain (`explain`), as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "cli/common/report.hpp"
#include "cli/espalier/run.hpp"
#include "planner/explain/explain.hpp"

namespace espalier::cli {

// The figures, what limits them and what would help most, and a table of upgrades.
// report: what report_on says of the problem.
Report explanation_report(Report report, const planner::ModelledPlatform& problem,
                          planner::Operation operation, std::optional<platforms::NodeId> root,
                          const planner::Explanation& explanation);
template <class Problem>
Report explanation_report(const Problem& problem, const planner::Explanation& explanation) {
  return explanation_report(report_on(problem), planner::ModelledPlatform(problem),
                            problem.operation(), problem.root(), explanation);
}

// What limits the optimum, and which upgrades would help most: a sentence a line.
std::string limits_text(const planner::Explanation& explanation, planner::Operation operation);
std::string best_upgrades_text(const planner::Explanation& explanation);

}  // namespace espalier::cli
