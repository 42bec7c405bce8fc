#include "cli/espalier/comparing.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "cli/espalier/run.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/problem/collective.hpp"
#include "planner/schedule/makespan.hpp"
#include "planner/solve/budget.hpp"
#include "simulate/simulate.hpp"

namespace espalier::cli {

namespace {

void note_status(ComparisonContext& context, ExitStatus status) {
  if (context.status == ExitStatus::kDone) context.status = status;
}

void take_bound(const Run& run, Comparison& comparison) {
  const std::optional<BytesPerSecond>& bound = run.outcome.bound;
  if (!bound) return;
  comparison.bound_final = comparison.bound_final || run.outcome.ends.is_bound_final();
  if (!(comparison.bound_Bps <= bound->value)) comparison.bound_Bps = bound->value;
}

// Simulated, in the plan's segments, which are sent as soon as possible; kNoFigure where that would
// take long.
double time_of(Bytes message, const planner::Plan& plan, const platforms::Platform& platform) {
  constexpr double kMostSends = 2e7;  // some ten seconds
  const platforms::Platform network = planner::platform_of(plan, platform);
  const simulate::Simulator simulator(plan, network);
  return simulator.sends_of(message) <= kMostSends ? simulator.run(message).makespan.value
                                                   : kNoFigure;
}

// Runs one algorithm. A limit that leaves no result is reported in the row.
// Problem: any of planner/problem/any_problem.hpp.
template <class Problem>
ComparisonRow row_of(const planner::Algorithm& algorithm, const Problem& problem,
                     ComparisonContext& context, Comparison& comparison) {
  ComparisonRow row{.algorithm = algorithm.name};
  try {
    const bool cut_short = context.proof_limit && algorithm.entry->exponential;
    planner::AlgorithmOptions limits = context.limits;
    if (cut_short) limits.deadline = Deadline(context.proof_limit);
    const Run run = run_timed(algorithm, problem, limits, context.console);
    const ExitStatus status = judge(run, algorithm.name, context.console);
    if (!cut_short) note_status(context, status);
    const planner::Plan plan =
        planner::make_plan(problem, algorithm.name, run.outcome, context.occupation.segment);
    row.figures = experiments::row_of(plan, {run.seconds});
    row.cost = plan.cost;
    if (context.message) row.time_s = time_of(*context.message, plan, problem.platform());
    if (const auto makespan = planner::makespan_of(run.outcome, problem, context.limits.message)) {
      row.makespan_s = makespan->value;
    }
    take_bound(run, comparison);
  } catch (const LimitReached& fault) {
    note_status(context, fault.status());
    row.figures.error = fault.what();
  } catch (const InfeasibleError& fault) {  // the algorithm is not for this platform
    note_status(context, fault.status());
    row.figures.error = fault.what();
  }
  return row;
}

// Proves the bound, unless the rows already contain one from `optimal`.
template <class Problem>
void prove(const Problem& problem, ComparisonContext& context, Comparison& comparison) {
  if (!std::isnan(comparison.bound_Bps)) return;
  try {
    const Run run = run_proof(problem, context.limits, context.console);
    note_status(context, judge(run, "bound", context.console));
    comparison.optimum_Bps = run.throughput.value;
    take_bound(run, comparison);
  } catch (const LimitReached& fault) {
    note_status(context, fault.status());
    context.console.warn(fault.what());
  }
}

template <class Problem>
void compare_on(const Problem& problem, ComparisonContext& context, Comparison& comparison) {
  for (const planner::Algorithm& algorithm : context.algorithms) {
    if (context.all && !planner::is_for(algorithm, problem)) continue;
    comparison.rows.push_back(row_of(algorithm, problem, context, comparison));
  }
  prove(problem, context, comparison);
}

// Of the optimum, from the plan without a limit to the least depth that the limits of time and the
// links allow, in steps of a quarter.
template <class Problem>
void add_depths(const Problem& problem, ComparisonContext& context, Comparison& comparison) {
  planner::AlgorithmOptions limits = context.limits;
  const planner::Algorithm optimal = planner::find_algorithm(planner::kOptimal, context.operation);
  for (std::size_t depth = 1; depth > 0; limits.max_depth = static_cast<std::uint32_t>(depth)) {
    try {
      const Run run = run_timed(optimal, problem, limits, context.console);
      const planner::Plan plan =
          planner::make_plan(problem, optimal.name, run.outcome, context.occupation.segment);
      const planner::TreeFigures figures = planner::figures_of(plan);
      DepthRow row{limits.max_depth, experiments::row_of(plan, {run.seconds}), figures.out_degree};
      row.figures.relative =
          experiments::relative_to(comparison.bound_Bps, row.figures.throughput_Bps);
      if (context.message) row.time_s = time_of(*context.message, plan, problem.platform());
      // Where a stricter limit gave better trees, they are the best within the wider one, too.
      std::vector<DepthRow>& rows = comparison.by_depth;
      const auto is_better = [&](const DepthRow& wider) {
        constexpr double kFaster = 1 + 1e-6;
        return row.figures.throughput_Bps > wider.figures.throughput_Bps * kFaster &&
               (!context.message || row.time_s <= wider.time_s);
      };
      while (!rows.empty() && is_better(rows.back())) {
        row.max_depth = rows.back().max_depth;
        rows.pop_back();
      }
      rows.push_back(row);
      depth = figures.depth - std::max<std::size_t>(1, figures.depth / 4);
    } catch (const InfeasibleError&) {  // no tree is that shallow
      return;
    } catch (const LimitReached& fault) {
      note_status(context, fault.status());
      context.console.warn(fault.what());
      return;
    }
  }
}

// Of the optimum, from the cheapest plan to the fastest.
void add_costs(const platforms::Platform& platform, std::optional<platforms::NodeId> source,
               const std::vector<double>& shares, ComparisonContext& context,
               Comparison& comparison) {
  constexpr std::size_t kPoints = 8;
  const planner::MoneyProblem priced{
      context.operation, platform,           source,
      context.model,     context.occupation, {shares, context.receivers.on(platform)}};
  comparison.currency = platform.currency();
  planner::MoneyOptions how{{context.limits}, /*plan=*/false};
  how.deadline = how.deadline.restarted();
  for (const double budget : planner::frontier_budgets(priced, kPoints, how)) {
    const Run run = run_timed(
        [&](const planner::AlgorithmOptions& limits) {
          return planner::within_budget(priced, budget, {{limits}, /*plan=*/false}).outcome;
        },
        "frontier", context.limits, context.console);
    note_status(context, judge(run, "frontier", context.console));
    comparison.frontier.push_back({budget, planner::cost_of(run.outcome, platform)->per_GB,
                                   run.throughput, run.outcome.bound,
                                   planner::tree_count(run.outcome)});
  }
}

template <class Problem>
void add_frontier(const Problem& problem, const std::vector<double>& shares,
                  ComparisonContext& context, Comparison& comparison) {
  if (context.frontier == Frontier::kCost) {
    add_costs(problem.platform(), problem.root(), shares, context, comparison);
  } else if constexpr (std::is_same_v<Problem, planner::Collective> ||
                       std::is_same_v<Problem, planner::AllRoots>) {
    add_depths(problem, context, comparison);
  } else {
    throw InputError({}, "--frontier",
                     "the depth is of trees that span all hosts; 'cost' is of any plan");
  }
}

}  // namespace

Comparison compare_one(const platforms::Platform& platform, std::optional<platforms::NodeId> source,
                       const std::vector<double>& shares, ComparisonContext& context) {
  Comparison comparison{.operation = context.operation,
                        .platform = platform.name(),
                        .source = source ? platform.node(*source).name : "",
                        .model = std::string(platforms::name_of(context.model)),
                        .message = context.message};
  try {
    context.receivers.on_problem(context.operation, platform, source, context.model,
                                 context.occupation, shares, [&](const auto& problem) {
                                   compare_on(problem, context, comparison);
                                   if (context.frontier) {
                                     add_frontier(problem, shares, context, comparison);
                                   }
                                 });
  } catch (const InfeasibleError& fault) {
    if (!context.several) throw;
    note_status(context, fault.status());
    comparison.rows.clear();
    comparison.error = fault.what();
    return comparison;
  }
  for (ComparisonRow& row : comparison.rows) {
    const double throughput_Bps = row.figures.throughput_Bps;
    row.figures.relative = experiments::relative_to(comparison.bound_Bps, throughput_Bps);
    if (!(comparison.optimum_Bps >= throughput_Bps)) comparison.optimum_Bps = throughput_Bps;
  }
  return comparison;
}

}  // namespace espalier::cli
