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

// Whether direct trees are worth looking for: only hosts at switches can have them, and with few
// hosts the search for few trees takes milliseconds, and finds fewer.
bool is_for_direct_trees(const lp::Digraph& graph) {
  constexpr std::size_t kFewHosts = 64;
  return graph.has_relays() && graph.host_count() >= kFewHosts;
}

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
  if (!is_for_direct_trees(problem.graph)) return {};
  return lp::direct_trees(problem, rate, most_trees, deadline.share(kShare));
}

std::optional<lp::Packing> direct_packing(const Instance& instance,
                                          const AlgorithmOptions& options) {
  const lp::PackingProblem problem = packing_problem(instance);
  if (options.max_latency || !is_for_direct_trees(problem.graph)) return std::nullopt;
  lp::PlainBound bound = lp::plain_bound(problem);
  std::vector<lp::PackedTree> trees =
      fabric_trees(problem, bound.rate, options.max_trees, options.deadline);
  return proven(problem, std::move(trees), std::move(bound), options.gap, options);
}

std::optional<lp::Packing> direct_allreduce(const CollectiveProblem& joint,
                                            const Collective& collective,
                                            const AlgorithmOptions& options) {
  constexpr double kNearEnough = 1.0011e-3;  // so that it holds for 1,000 hosts and more
  const lp::PackingProblem single = packing_problem(*collective.broadcast());
  if (options.max_latency || !is_for_direct_trees(single.graph)) return std::nullopt;
  const auto both = lp::BothWays::of(single);
  if (!both) return std::nullopt;
  const lp::PackingProblem problem = joint.problem();
  lp::PlainBound bound = lp::plain_bound(problem);
  const double hosts = static_cast<double>(single.graph.host_count());
  const double gap = std::max(options.gap, kNearEnough);
  std::vector<lp::PackedTree> trees;
  for (const double share : {1.0, 1 - 1 / hosts}) {
    if (share * (1 + gap) < 1) break;
    trees = fabric_trees(both->problem(), share * bound.rate, options.max_trees, options.deadline);
    if (!trees.empty()) break;
  }
  for (lp::PackedTree& packed : trees) {
    packed.tree = joint.join({both->back(packed.tree), packed.tree});
  }
  return proven(problem, std::move(trees), std::move(bound), gap, options);
}

}  // namespace espalier::planner
