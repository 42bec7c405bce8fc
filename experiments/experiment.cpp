#include "experiments/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "planner/problem/any_problem.hpp"
#include "support/on_threads.hpp"

namespace espalier::experiments {

namespace {

// kNoFigure for infinite rates: a bound that was not proven before a limit was reached, or the
// throughput of a single host.
double figure(double rate_Bps) {
  return std::isfinite(rate_Bps) && rate_Bps < lp::Packing::kUnbounded ? rate_Bps : kNoFigure;
}

planner::AlgorithmOptions limits_of(const Study& study) {
  planner::AlgorithmOptions limits = study.limits;
  limits.deadline = study.limits.deadline.restarted();
  return limits;
}

bool is_optimal(const planner::Algorithm& algorithm) {
  return algorithm.entry->name == planner::kOptimal;
}

// What the algorithms of a unit share.
struct Solved {
  double bound_Bps = kNoFigure;
  bool is_bound_final = false;
  std::optional<planner::Packings> packings{};  // of a Collective
  std::optional<planner::Outcome> optimum{};    // of any other problem, where the study has it
};

// Problem: any of planner/problem/any_problem.hpp.
template <class Problem>
Solved solve(const Study& study, const Problem& problem) {
  const planner::AlgorithmOptions limits = limits_of(study);
  Solved solved;
  if constexpr (std::is_same_v<Problem, planner::Collective>) {
    const lp::Packing& whole =
        solved.packings.emplace(planner::solve_packings(problem, limits)).whole();
    solved.bound_Bps = figure(whole.bound);
    solved.is_bound_final = whole.end == lp::PackingEnd::kGapReached;
  } else {
    const auto optimal = std::ranges::find_if(study.algorithms, is_optimal);
    const bool has_optimal = optimal != study.algorithms.end();
    planner::Outcome optimum = has_optimal ? planner::run(*optimal, problem, limits)
                                           : planner::prove_optimum(problem, limits);
    if (optimum.bound) solved.bound_Bps = figure(optimum.bound->value);
    solved.is_bound_final = optimum.ends.is_bound_final();
    if (has_optimal) solved.optimum = std::move(optimum);
  }
  return solved;
}

template <class Problem>
planner::Outcome outcome_of(const planner::Algorithm& algorithm, const Problem& problem,
                            const planner::AlgorithmOptions& limits, const Solved& solved) {
  if constexpr (std::is_same_v<Problem, planner::Collective>) {
    return planner::run(algorithm, problem, limits, &*solved.packings);
  } else {
    if (solved.optimum && is_optimal(algorithm)) return *solved.optimum;
    return planner::run(algorithm, problem, limits);
  }
}

template <class Problem>
Row run_algorithm(const Study& study, const planner::Algorithm& algorithm, const Problem& problem,
                  const Solved& solved) {
  try {
    const Stopwatch watch;
    const planner::Outcome outcome = outcome_of(algorithm, problem, limits_of(study), solved);
    const Seconds took = watch.elapsed();
    const planner::Plan plan =
        planner::make_plan(problem, algorithm.name, outcome, planner::kDefaultSegment);
    Row row = row_of(plan, took);
    return row;
  } catch (const LimitReached& fault) {
    return {.error = fault.what()};
  } catch (const InfeasibleError& fault) {  // the algorithm is not for this platform
    return {.error = fault.what()};
  }
}

// Runs the algorithms, and divides by `bound_Bps`. is_own: it is the bound of the unit's model.
template <class Problem>
std::vector<Row> run_algorithms(const Study& study, const Problem& problem, const Solved& solved,
                                double bound_Bps, bool is_own) {
  std::vector<Row> rows;
  for (const planner::Algorithm& algorithm : study.algorithms) {
    Row row = run_algorithm(study, algorithm, problem, solved);
    row.relative = is_own ? relative_to(bound_Bps, row.throughput_Bps)
                          : figure(row.throughput_Bps) / bound_Bps;
    row.throughput_Bps = figure(row.throughput_Bps);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

double relative_to(double bound_Bps, double throughput_Bps) {
  if (std::isinf(throughput_Bps)) return 1;
  const double relative = throughput_Bps / bound_Bps;
  return relative > 1 ? 1 : relative;
}

Row row_of(const planner::Plan& plan, Seconds took) {
  return {.trees = planner::tree_count(plan),
          .throughput_Bps = plan.throughput.value,
          .depth = planner::figures_of(plan).depth,
          .seconds = took.value};
}

Result run_unit(const Study& study, std::size_t unit) {
  const Case& drawn = study.case_of(unit);
  const std::shared_ptr<const platforms::Platform> platform = drawn.make();
  std::optional<platforms::NodeId> root;
  if (study.has_root()) {
    root = drawn.source.empty() ? platform->hosts().front()
                                : planner::source_named(*platform, drawn.source);
  }
  Result result{.nodes = platform->hosts().size(),
                .arcs = platform->arcs().size(),
                .source = root ? platform->node(*root).name : "",
                .rows = {}};
  const platforms::Model model = study.model_of(unit);
  const platforms::Model divisor = study.relative_to.value_or(model);
  const auto under = [&](platforms::Model chosen, const auto& visit) {
    return planner::on_problem(study.operation, *platform, root, chosen, study.occupation, {},
                               visit);
  };
  try {
    under(model, [&](const auto& problem) {
      const Stopwatch watch;
      const Solved solved = solve(study, problem);
      std::optional<Solved> reference;
      if (divisor != model) {
        reference = under(divisor, [&](const auto& other) { return solve(study, other); });
      }
      result.seconds = watch.elapsed().value;
      const Solved& whole = reference ? *reference : solved;
      result.bound_Bps = whole.bound_Bps;
      result.gap_open = !whole.is_bound_final;
      result.rows = run_algorithms(study, problem, solved, result.bound_Bps, !reference);
    });
  } catch (const LimitReached& fault) {
    result.gap_open = true;
    result.rows.assign(study.algorithms.size(), Row{.error = fault.what()});
  } catch (const InfeasibleError& fault) {
    result.rows.assign(study.algorithms.size(), Row{.error = fault.what()});
  }
  return result;
}

void run_units(const Study& study, std::span<const std::size_t> units, std::size_t jobs,
               const std::function<void(std::size_t unit, Result&& result)>& report) {
  // GLPK has an environment per thread (lp/solver/linear_program.cpp), so solvers can run
  // concurrently.
  on_threads(
      units.size(), jobs, [&](std::size_t i) { return run_unit(study, units[i]); },
      [&](std::size_t i, Result&& result) { report(units[i], std::move(result)); });
}

}  // namespace espalier::experiments
