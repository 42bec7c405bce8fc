// Runs one algorithm for a command: times it, shows its progress, and derives the exit status.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/report.hpp"
#include "cli/espalier/console.hpp"
#include "planner/check/verify.hpp"
#include "planner/explain/binding_cuts.hpp"
#include "planner/explain/explain.hpp"
#include "planner/plan/plan.hpp"
#include "planner/problem/any_problem.hpp"
#include "planner/registry.hpp"
#include "support/errors.hpp"
#include "support/json.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

struct Run {
  planner::Outcome outcome;
  BytesPerSecond throughput;  // sum of the rates of the trees of either kind
  double seconds = 0;         // wall clock
};

// What every report on a problem, or on a plan (with its algorithm), begins with in JSON.
Report report_on(const planner::Plan& plan);
Report report_on(planner::Operation operation, const platforms::Platform& platform,
                 std::optional<platforms::NodeId> root, platforms::Model model);
template <class Problem>
Report report_on(const Problem& problem) {
  return report_on(problem.operation(), problem.platform(), problem.root(), problem.model());
}
// The bound in text and JSON, with "bound_final" beside it. missing: its text where there is none.
void report_bound(Report& report, const std::optional<BytesPerSecond>& bound,
                  const planner::Ends& ends, const std::string& missing = "-");

// "The bound is a cut: the 4 links into rack3 carry 12.0000 Gbit/s for 64 hosts.", the first three
// cuts, a line each; none: nothing.
std::string cuts_text(const std::vector<planner::BindingCut>& cuts);
// [{"cut", "capacity_Bps", "hosts", "links"}].
Json cuts_json(const std::vector<planner::BindingCut>& cuts);

// "from", "reduced to", "allreduced via" and so on: printed between the platform and its source.
std::string_view relation_to_source(planner::Operation operation);
// "1 tree", "3 trees"; for an allreduce "2 trees up and 1 down". For other operations one of the
// two is 0.
std::string count_of_trees(std::size_t reduce_trees, std::size_t broadcast_trees);

// Calls `run` for each message until a limit is reached, which is reported, and is the status.
// Throws LimitReached where nothing was done before.
template <class RunOne>
void each_until_limit(const std::vector<Bytes>& messages, ExitStatus& status, const RunOne& run) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    try {
      run(messages[i]);
    } catch (const LimitReached& limit) {
      if (i == 0) throw;
      print_error(limit.what());  // and what was done before
      status = limit.status();
      return;
    }
  }
}

using Work = std::function<planner::Outcome(const planner::AlgorithmOptions&)>;

Run run_timed(const Work& work, std::string_view label, planner::AlgorithmOptions options,
              const Console& console);
template <class Problem>
Run run_timed(const planner::Algorithm& algorithm, const Problem& problem,
              const planner::AlgorithmOptions& options, const Console& console) {
  const auto work = [&](const auto& limits) { return planner::run(algorithm, problem, limits); };
  return run_timed(work, algorithm.name, options, console);
}
// The optimum's bound (planner::prove_optimum).
template <class Problem>
Run run_proof(const Problem& problem, const planner::AlgorithmOptions& options,
              const Console& console) {
  const auto work = [&](const auto& limits) { return planner::prove_optimum(problem, limits); };
  return run_timed(work, "bound", options, console);
}

// What limits the problem, with progress.
using Explaining = std::function<planner::Explanation(const planner::ExplainOptions&)>;
planner::Explanation explain_timed(const Explaining& work, std::size_t top,
                                   const planner::AlgorithmOptions& limits, const Console& console);
template <class Problem>
planner::Explanation explain_timed(const Problem& problem, std::size_t top,
                                   const planner::AlgorithmOptions& limits,
                                   const Console& console) {
  const Explaining work = [&](const auto& options) { return planner::explain(problem, options); };
  return explain_timed(work, top, limits, console);
}

// 1 - throughput / bound, not below 0; NaN without a bound.
double gap_of(BytesPerSecond throughput, const std::optional<BytesPerSecond>& bound);

// "proven bound", or "bound (not final)" if more time might have lowered it.
std::string_view bound_title(const planner::Ends& ends);
// {"packing": "done", ...}: how each stage ended.
Json ends_json(const planner::Ends& ends);

// kLimitReached, after a warning that names the first unfinished stage and states the gap, if the
// time limit cut any stage short, or the solver stalled; otherwise kDone. A gap that --max-trees
// leaves is intended and gives kDone.
ExitStatus judge(const Run& run, std::string_view label, const Console& console);

// Prints each fault on stderr after the plan's file; whether there are any.
bool print_faults(const planner::VerifyReport& report, const std::string& file);

}  // namespace espalier::cli
