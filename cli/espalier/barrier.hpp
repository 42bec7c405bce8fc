// Barriers, for `plan`, `compare` and `bound`: they have a time, and no throughput.
#pragma once

#include <optional>
#include <vector>

#include "cli/common/report.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/search/choose_plan.hpp"

namespace espalier::cli {

struct BarrierProblem {
  const platforms::Platform& platform;
  std::optional<platforms::NodeId> root;  // unset: any
  const ModelOptions& model;
  std::optional<Seconds> overhead{};  // of a segment, on links without one; unset: overhead_for
};

// algorithms: as of ChoiceOptions.
simulate::Choice choose_for(const BarrierProblem& problem,
                            const std::vector<planner::Algorithm>& algorithms,
                            const planner::AlgorithmOptions& limits, const Console& console);
// The plan of choose_for.
Report barrier_summary(const BarrierProblem& problem, const simulate::Choice& choice);
// A row for each algorithm, with its best root, by time. choice: of choose_for.
Report barrier_comparison(const BarrierProblem& problem, const simulate::Choice& choice);
Report barrier_bound_report(const BarrierProblem& problem);

}  // namespace espalier::cli
