#include "cli/espalier/barrier.hpp"

#include <fmt/format.h>

#include <set>

#include "cli/espalier/plan_choice.hpp"
#include "cli/espalier/run.hpp"
#include "planner/schedule/barrier_bound.hpp"
#include "simulate/search/choose_barrier.hpp"

namespace espalier::cli {

namespace {

using planner::Operation;

Seconds overhead_of(const BarrierProblem& problem) {
  return problem.overhead.value_or(simulate::overhead_for(problem.platform));
}

planner::BarrierBound bound_of(const BarrierProblem& problem) {
  return planner::barrier_bound(simulate::with_overhead(problem.platform, overhead_of(problem)),
                                problem.model.model());
}

// The bound, and what it follows from.
void add_bound(Report& report, const BarrierProblem& problem, const planner::BarrierBound& bound) {
  const std::string& from = problem.platform.node(bound.from).name;
  const std::string& to = problem.platform.node(bound.to).name;
  report.add("least possible", "bound_s", bound.time);
  report.add("farthest hosts", "",
             shown_only(fmt::format("{} from {} to {}", format_duration(bound.latency),
                                    printable(from), printable(to))));
  report.write("farthest", Json{{"from", from}, {"to", to}, {"latency_s", bound.latency.value}});
  const Seconds overhead = overhead_of(problem);
  report.write("overhead_s", overhead.value);
  if (overhead.value > 0) {
    report.add("assumed", "",
               shown_only(fmt::format("{} per segment on links without an overhead",
                                      format_duration(overhead))));
  }
}

Report report_on_barrier(const BarrierProblem& problem) {
  return report_on(Operation::kBarrier, problem.platform, problem.root, problem.model.model());
}

}  // namespace

simulate::Choice choose_for(const BarrierProblem& problem,
                            const std::vector<planner::Algorithm>& algorithms,
                            const planner::AlgorithmOptions& limits, const Console& console) {
  simulate::ChoiceOptions options;
  options.algorithms = algorithms;
  options.limits = limits;
  options.overhead = problem.overhead;
  return choose_in_sight(options, console, [&](const simulate::ChoiceOptions& how) {
    return simulate::choose_barrier(problem.platform, problem.root, problem.model.model(),
                                    problem.model.occupation().latency_occupies, how);
  });
}

Report barrier_summary(const BarrierProblem& problem, const simulate::Choice& choice) {
  const planner::BarrierBound bound = bound_of(problem);
  const simulate::CandidateResult& own = choice.candidates.front();
  Report report = report_on(choice.plan);
  report.add("time", "time_s", choice.makespan);
  add_bound(report, problem, bound);
  report.add("relative", "relative", decimal(bound.time.value / choice.makespan.value));
  report.add("root", "", own.root);
  report.add("algorithm", "", own.algorithm);
  report.add("depth", "depth", own.depth);
  report.add("degree", "out_degree", planner::figures_of(choice.plan).out_degree);
  report.write("simulations", choice.simulations);
  report.write("complete", choice.complete);
  return report;
}

Report barrier_comparison(const BarrierProblem& problem, const simulate::Choice& choice) {
  const planner::BarrierBound bound = bound_of(problem);
  Rows rows({left("algorithm", "algorithm"),
             left("root", "root"),
             {"depth", "depth"},
             {"time", "time_s"},
             {"relative", "relative"}});
  std::set<std::string> listed;
  for (const simulate::CandidateResult& one : choice.candidates) {
    if (!listed.insert(one.algorithm).second) continue;  // with a root that is worse for it
    rows.add({one.algorithm, one.root, one.depth, one.makespan,
              decimal(bound.time.value / one.makespan.value)});
  }
  Report report = report_on_barrier(problem);
  add_bound(report, problem, bound);
  report.add("rows", rows);
  return report;
}

Report barrier_bound_report(const BarrierProblem& problem) {
  Report report = report_on_barrier(problem);
  add_bound(report, problem, bound_of(problem));
  return report;
}

}  // namespace espalier::cli
