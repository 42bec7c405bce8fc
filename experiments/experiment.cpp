#include "experiments/experiment.hpp"

#include <cmath>
#include <utility>

#include "planner/problem/collective.hpp"
#include "support/on_threads.hpp"

namespace espalier::experiments {

namespace {

// kNoFigure for infinite rates: a bound that was not proven before a limit was reached, or the
// throughput of a single host.
double figure(double rate_Bps) {
  return std::isfinite(rate_Bps) && rate_Bps < lp::Packing::kUnbounded ? rate_Bps : kNoFigure;
}

Row run_algorithm(const planner::Algorithm& algorithm, const planner::Collective& collective,
                  const planner::AlgorithmOptions& options, const planner::Packings& packings) {
  try {
    const Stopwatch watch;
    planner::AlgorithmOptions own = options;
    own.deadline = options.deadline.restarted();
    const planner::Outcome outcome = planner::run(algorithm, collective, own, &packings);
    const Seconds took = watch.elapsed();
    const planner::Plan plan =
        planner::make_plan(collective, algorithm.name, outcome, planner::kDefaultSegment);
    Row row = row_of(plan, took);
    return row;
  } catch (const LimitReached& fault) {
    return {.error = fault.what()};
  } catch (const InfeasibleError& fault) {  // the algorithm is not for this platform
    return {.error = fault.what()};
  }
}

// Runs the algorithms, and divides by `bound_Bps`. is_own: it is the bound of the unit's model.
std::vector<Row> run_algorithms(const Study& study, const planner::Collective& collective,
                                const planner::AlgorithmOptions& options,
                                const planner::Packings& packings, double bound_Bps, bool is_own) {
  std::vector<Row> rows;
  for (const planner::Algorithm& algorithm : study.algorithms) {
    Row row = run_algorithm(algorithm, collective, options, packings);
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
  const platforms::NodeId source = drawn.source.empty()
                                       ? platform->hosts().front()
                                       : planner::source_named(*platform, drawn.source);
  Result result{.nodes = platform->hosts().size(),
                .arcs = platform->arcs().size(),
                .source = platform->node(source).name,
                .rows = {}};
  try {
    const planner::Collective collective(study.operation, *platform, source, study.model_of(unit),
                                         study.occupation);
    planner::AlgorithmOptions options = study.limits;
    options.deadline = study.limits.deadline.restarted();
    const Stopwatch watch;
    const planner::Packings packings = planner::solve_packings(collective, options);
    std::optional<planner::Packings> reference;
    if (study.relative_to && *study.relative_to != study.model_of(unit)) {
      const planner::Collective other(study.operation, *platform, source, *study.relative_to,
                                      study.occupation);
      options.deadline = study.limits.deadline.restarted();
      reference.emplace(planner::solve_packings(other, options));
    }
    result.seconds = watch.elapsed().value;
    const lp::Packing& divisor = reference ? reference->whole() : packings.whole();
    result.bound_Bps = figure(divisor.bound);
    result.gap_open = divisor.end != lp::PackingEnd::kGapReached;
    result.rows =
        run_algorithms(study, collective, options, packings, result.bound_Bps, !reference);
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
