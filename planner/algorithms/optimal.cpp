// The packing LP's solution as a plan (design: lp/arborescence_packing.hpp).
#include <algorithm>
#include <numeric>

#include "lp/arborescence_packing.hpp"
#include "planner/algorithms/algorithms.hpp"
#include "planner/make_plan.hpp"

namespace espalier::planner {

namespace {

lp::PackingOptions packing_options(const AlgorithmOptions& options) {
  lp::PackingOptions packing;
  packing.gap = options.gap;
  packing.time_limit = options.time_limit;
  if (options.on_progress) {
    packing.on_progress = [&options](const lp::PackingProgress& progress) {
      options.on_progress(
          {progress.elapsed, progress.iterations, {progress.rate}, {progress.bound}});
    };
  }
  return packing;
}

Outcome outcome_of(const lp::Packing& packing) {
  Outcome outcome;
  for (const lp::PackedTree& packed : packing.trees) {
    outcome.trees.push_back({packed.tree, {packed.rate}});
  }
  outcome.bound = BytesPerSecond{packing.bound};
  for (std::uint32_t row = 0; row < packing.prices.size(); ++row) {
    if (packing.prices[row] > 0) outcome.prices.push_back({row, packing.prices[row]});
  }
  std::stable_sort(
      outcome.prices.begin(), outcome.prices.end(),
      [](const PricedResource& a, const PricedResource& b) { return a.price > b.price; });
  outcome.iterations = packing.arborescences_priced;
  switch (packing.end) {
    case lp::PackingEnd::kGapReached:
      outcome.termination = Termination::kDone;
      break;
    case lp::PackingEnd::kLimit:
      outcome.termination = Termination::kTimeLimit;
      break;
    case lp::PackingEnd::kStalled:
      outcome.termination = Termination::kStalled;
      break;
  }
  return outcome;
}

}  // namespace

Outcome prove_optimum(const Instance& instance, const AlgorithmOptions& options) {
  const lp::PackingProblem problem{instance.digraph(),
                                   static_cast<std::uint32_t>(instance.source()),
                                   instance.occupation().seconds_per_byte};
  return outcome_of(lp::pack_arborescences(problem, packing_options(options)));
}

namespace tree_algorithms {

Outcome optimal(const Instance& instance, const AlgorithmOptions& options) {
  return prove_optimum(instance, options);
}

}  // namespace tree_algorithms
}  // namespace espalier::planner
