// The packing LP's solution as a plan (design: lp/arborescence_packing.hpp).
#include "lp/few_trees.hpp"
#include "planner/algorithms/algorithms.hpp"
#include "planner/deadline.hpp"
#include "planner/solve_packing.hpp"

namespace espalier::planner::tree_algorithms {

Outcome optimal(const Instance& instance, const AlgorithmOptions& options) {
  const Deadline deadline(options.time_limit);
  const lp::PackingProblem problem = packing_problem(instance);
  const PackingInUse packing(instance, options);

  lp::FewTreesOptions few;
  few.max_trees = options.max_trees;
  few.gap = options.gap;
  few.time_limit = deadline.left();
  const std::vector<lp::PackedTree> trees =
      lp::flatten_trees(problem, packing.get(), lp::pack_few_trees(problem, packing.get(), few));
  Outcome outcome = outcome_of(packing.get());
  outcome.trees.clear();
  double rate = 0;
  for (const lp::PackedTree& packed : trees) {
    outcome.trees.push_back({packed.tree, {packed.rate}});
    rate += packed.rate;
  }
  if (options.max_trees > 0 && rate * (1 + options.gap) < packing.get().bound) {
    outcome.termination = Termination::kTreeLimit;
  }
  return outcome;
}

}  // namespace espalier::planner::tree_algorithms
