#include "experiments/experiment.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "planner/problem/collective.hpp"

namespace espalier::experiments {

namespace {

// kNoFigure for infinite rates: a bound that was not proven before a limit was reached, or the
// throughput of a single host.
double figure(double rate_Bps) {
  return std::isfinite(rate_Bps) && rate_Bps < lp::Packing::kUnbounded ? rate_Bps : kNoFigure;
}

Row run_algorithm(const planner::Algorithm& algorithm, const planner::Collective& collective,
                  const planner::AlgorithmOptions& options, const planner::Packings& packings,
                  double bound_Bps) {
  try {
    const Stopwatch watch;
    planner::AlgorithmOptions own = options;
    own.deadline = options.deadline.restarted();
    const planner::Outcome outcome = planner::run(algorithm, collective, own, &packings);
    const Seconds took = watch.elapsed();
    const planner::Plan plan =
        planner::make_plan(collective, algorithm.name, outcome, planner::kDefaultSegment);
    Row row = row_of(plan, took);
    row.relative = relative_to(bound_Bps, row.throughput_Bps);
    row.throughput_Bps = figure(row.throughput_Bps);
    return row;
  } catch (const LimitReached& fault) {
    return {.error = fault.what()};
  } catch (const InfeasibleError& fault) {  // the algorithm is not for this platform
    return {.error = fault.what()};
  }
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
    result.seconds = watch.elapsed().value;
    result.bound_Bps = figure(packings.whole().bound);
    result.gap_open = packings.whole().end != lp::PackingEnd::kGapReached;
    for (const planner::Algorithm& algorithm : study.algorithms) {
      result.rows.push_back(
          run_algorithm(algorithm, collective, options, packings, result.bound_Bps));
    }
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
  std::atomic<std::size_t> next = 0;
  std::mutex reporting;
  std::exception_ptr fault;
  const auto work = [&] {
    for (std::size_t i = next++; i < units.size(); i = next++) {
      try {
        Result result = run_unit(study, units[i]);
        const std::scoped_lock lock(reporting);
        if (fault) return;
        report(units[i], std::move(result));
      } catch (...) {
        const std::scoped_lock lock(reporting);
        if (!fault) fault = std::current_exception();
        next = units.size();
      }
    }
  };
  {
    // GLPK has an environment per thread (lp/solver/linear_program.cpp), so solvers can run
    // concurrently.
    std::vector<std::jthread> threads;
    const std::size_t most = std::max<std::size_t>(1, std::min(jobs, units.size()));
    for (std::size_t i = 0; i < most; ++i) threads.emplace_back(work);
  }
  if (fault) std::rethrow_exception(fault);
}

}  // namespace espalier::experiments
