// The packing LP's solution as a plan (see lp/packing/arborescence_packing.hpp for the method).
#include "planner/algorithms/optimal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lp/packing/few_trees.hpp"
#include "lp/packing/low_latency_trees.hpp"
#include "lp/packing/shallow_trees.hpp"
#include "planner/algorithms/algorithms.hpp"
#include "support/deadline.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

std::vector<lp::PackedTree> few_trees(const lp::PackingProblem& problem, const lp::Packing& packing,
                                      const AlgorithmOptions& options, const Deadline& deadline) {
  lp::FewTreesOptions few;
  few.max_trees = options.max_trees;
  few.gap = options.gap;
  few.time_limit = deadline.left();
  return lp::flatten_trees(problem, packing, lp::pack_few_trees(problem, packing, few));
}

lp::ShallowOptions shallow_options(const AlgorithmOptions& options) {
  lp::ShallowOptions shallow;
  shallow.max_depth = options.max_depth;
  shallow.max_latency = options.max_latency;
  shallow.max_trees = options.max_trees;
  return shallow;
}

}  // namespace

Outcome few_shallow_trees(const lp::PackingProblem& problem, const lp::Packing& packing,
                          const AlgorithmOptions& options, const Deadline& deadline,
                          const platforms::Platform& platform, platforms::NodeId source) {
  std::vector<lp::PackedTree> trees = few_trees(problem, packing, options, deadline);
  lp::ShallowOptions shallow = shallow_options(options);
  const auto too_deep = [&](const lp::PackedTree& tree) {
    return !lp::is_shallow(problem, tree.tree, shallow);
  };
  const bool limits_depth = options.max_depth > 0 || options.max_latency;
  if (limits_depth && std::any_of(trees.begin(), trees.end(), too_deep)) {
    shallow.time_limit = deadline.left();
    trees = lp::pack_shallow_trees(problem, packing, shallow);
    if (trees.empty()) {
      throw InfeasibleError(fmt::format("{}: no tree from '{}' reaches every host within {}",
                                        platform.name(), platform.node(source).name,
                                        options.max_latency
                                            ? format_duration(*options.max_latency)
                                            : fmt::format("{} edges", options.max_depth)));
    }
    std::vector<lp::PackedTree> flat = lp::flatten_trees(problem, packing, trees);
    if (std::none_of(flat.begin(), flat.end(), too_deep)) trees = std::move(flat);
  } else if (!limits_depth) {
    trees = lp::lower_latency(problem, packing, std::move(trees),
                              {.gap = options.gap, .time_limit = deadline.left()});
  }
  Outcome outcome = outcome_of(packing);
  outcome.trees.clear();
  double rate = 0;
  for (const lp::PackedTree& packed : trees) {
    outcome.trees.push_back({packed.tree, {packed.rate}});
    rate += packed.rate;
  }
  if ((options.max_trees > 0 || limits_depth) && rate * (1 + options.gap) < packing.bound) {
    outcome.termination = Termination::kTreeLimit;
  }
  return outcome;
}

Outcome optimal(const Instance& instance, const AlgorithmOptions& options) {
  const Deadline deadline(options.time_limit);
  const PackingInUse packing(instance, options);
  return few_shallow_trees(packing_problem(instance), packing.get(), options, deadline,
                           instance.platform(), instance.source());
}

}  // namespace espalier::planner::tree_algorithms
