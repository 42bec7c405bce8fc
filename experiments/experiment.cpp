#include "experiments/experiment.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "planner/solve/make_plan.hpp"
#include "planner/solve/solve_packing.hpp"

namespace espalier::experiments {

namespace {

// kNoFigure for infinite rates: a bound that was not proven before a limit was reached, or the
// throughput of a single host.
double figure(double rate_Bps) {
  return std::isfinite(rate_Bps) && rate_Bps < lp::Packing::kUnbounded ? rate_Bps : kNoFigure;
}

double relative_to(double bound_Bps, double throughput_Bps) {
  // A single host sends nothing, so its throughput is infinite. Rounding may exceed the bound.
  if (std::isinf(throughput_Bps)) return 1;
  const double relative = throughput_Bps / bound_Bps;
  return relative > 1 ? 1 : relative;
}

Row row_of(const planner::Algorithm& algorithm, const planner::Instance& instance,
           const planner::AlgorithmOptions& options, double bound_Bps) {
  Row row;
  try {
    const Stopwatch watch;
    planner::AlgorithmOptions own = options;
    own.deadline = options.deadline.restarted();
    const planner::Outcome outcome = algorithm.run(instance, own);
    row.seconds = watch.elapsed().value;
    const planner::Plan plan =
        planner::make_plan(instance, algorithm.name, outcome, planner::kDefaultSegment);
    const std::uint32_t source = planner::source_index(plan);
    for (const planner::PlanTree& tree : plan.broadcast_trees) {
      row.depth = std::max(row.depth, planner::depth_of(tree, source));
    }
    row.trees = plan.broadcast_trees.size();
    row.throughput_Bps = figure(plan.throughput.value);
    row.relative = relative_to(bound_Bps, plan.throughput.value);
  } catch (const LimitReached& fault) {
    row.error = fault.what();
  }
  return row;
}

}  // namespace

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
    const planner::Instance instance(*platform, source, study.model_of(unit), study.occupation);
    planner::AlgorithmOptions options = study.limits;
    options.deadline = study.limits.deadline.restarted();
    const Stopwatch watch;
    const lp::Packing packing = planner::solve_packing(instance, options);
    result.seconds = watch.elapsed().value;
    result.bound_Bps = figure(packing.bound);
    result.gap_open = packing.end != lp::PackingEnd::kGapReached;
    options.packing = &packing;
    for (const planner::Algorithm& algorithm : study.algorithms) {
      result.rows.push_back(row_of(algorithm, instance, options, result.bound_Bps));
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
