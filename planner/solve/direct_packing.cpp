#include "planner/solve/direct_packing.hpp"

#include <algorithm>
#include <utility>

#include "lp/fabric/both_ways.hpp"
#include "lp/fabric/direct_trees.hpp"
#include "lp/graph/tree_routes.hpp"
#include "lp/packing/plain_bound.hpp"
#include "planner/solve/solve_packing.hpp"

namespace espalier::planner {

namespace {

// Unset: it is not within `gap` of the bound, or beyond the limit of depth.
std::optional<lp::Packing> proven(const lp::PackingProblem& problem,
                                  std::vector<lp::PackedTree> trees, lp::PlainBound bound,
                                  double gap, const AlgorithmOptions& options) {
  lp::Packing packing;
  packing.trees = std::move(trees);
  for (const lp::PackedTree& tree : packing.trees) {
    packing.rate += tree.rate;
    if (options.max_depth > 0 &&
        lp::depth_of(problem.graph, problem.root, tree.tree) > options.max_depth) {
      return std::nullopt;
    }
  }
  if (!(packing.rate * (1 + gap) >= bound.rate)) return std::nullopt;
  packing.bound = bound.rate;
  packing.prices = std::move(bound.prices);
  return packing;
}

}  // namespace

std::vector<lp::PackedTree> fabric_trees(const lp::PackingProblem& problem, double rate,
                                         std::size_t most_trees, const Deadline& deadline) {
  constexpr double kShare = 0.2;  // of the time
  // The search for few trees takes milliseconds in smaller networks, and finds fewer.
  constexpr std::size_t kFewHosts = 64;
  if (problem.graph.host_count() < kFewHosts) return {};
  return lp::direct_trees(problem, rate, most_trees, deadline.share(kShare));
}

std::optional<lp::Packing> direct_packing(const Instance& instance,
                                          const AlgorithmOptions& options) {
  if (options.max_latency) return std::nullopt;
  const lp::PackingProblem problem = packing_problem(instance);
  lp::PlainBound bound = lp::plain_bound(problem);
  std::vector<lp::PackedTree> trees =
      fabric_trees(problem, bound.rate, options.max_trees, options.deadline);
  return proven(problem, std::move(trees), std::move(bound), options.gap, options);
}

std::optional<lp::Packing> direct_allreduce(const CollectiveProblem& joint,
                                            const Collective& collective,
                                            const AlgorithmOptions& options) {
  constexpr double kNearEnough = 1.0011e-3;  // so that it holds for 1,000 hosts and more
  if (options.max_latency) return std::nullopt;
  const auto both = lp::BothWays::of(packing_problem(*collective.broadcast()));
  if (!both) return std::nullopt;
  const lp::PackingProblem problem = joint.problem();
  lp::PlainBound bound = lp::plain_bound(problem);
  const double hosts = static_cast<double>(both->problem().graph.host_count());
  const double gap = std::max(options.gap, kNearEnough);
  std::vector<lp::PackedTree> trees;
  for (const double share : {1.0, 1 - 1 / hosts}) {
    if (!trees.empty() || share * (1 + gap) < 1) continue;
    trees = fabric_trees(both->problem(), share * bound.rate, options.max_trees, options.deadline);
  }
  for (lp::PackedTree& packed : trees) {
    packed.tree = joint.join({both->back(packed.tree), packed.tree});
  }
  return proven(problem, std::move(trees), std::move(bound), gap, options);
}

}  // namespace espalier::planner
