#include "planner/solve/first_root.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "lp/packing/tree_pricer.hpp"
#include "lp/problem/both_ways.hpp"
#include "planner/algorithms/optimal.hpp"
#include "planner/problem/collective_problem.hpp"
#include "planner/solve/direct_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

// Of an allreduce with the first host as its root.
void make_blocks(const AllRoots& problem, Outcome& rooted) {
  rooted.blocks.push_back({BlockKind::kCombine, 0, std::exchange(rooted.reduce_trees, {})});
  rooted.blocks.push_back({BlockKind::kSpread, 0, std::exchange(rooted.trees, {})});
  move_roots_to_middles(problem, rooted);
}

// What other roots may gain at most is next to nothing within this.
double gap_of(const lp::Packing& packed, const AllRoots& problem, const AlgorithmOptions& options) {
  if (is_for_direct_trees(problem.spread().digraph())) return gap_near_enough(options);
  const bool is_dense =
      packed.end == lp::PackingEnd::kGapReached && packed.bound > packed.rate * (1 + options.gap);
  return is_dense ? std::max(options.gap, options.dense_gap) : options.gap;
}

// Segments that are on the way at the same time where every tree is filled.
std::size_t segments_to_fill(const AllRoots& problem, const Outcome& outcome) {
  const Plan plan = make_plan(problem, kOptimal, outcome, kDefaultSegment);
  return tree_count(plan) * figures_of(plan).depth;
}

}  // namespace

Collective rooted_at(const AllRoots& problem, std::size_t root) {
  const Operation operation = problem.operation();
  const bool combines = has_blocks_of(BlockKind::kCombine, operation);
  const bool spreads = has_blocks_of(BlockKind::kSpread, operation);
  return {combines && spreads ? Operation::kAllreduce
          : combines          ? Operation::kReduce
                              : Operation::kBroadcast,
          problem.platform(), problem.platform().hosts()[root], problem.model(), problem.options()};
}

void move_roots_to_middles(const AllRoots& problem, Outcome& outcome) {
  const auto both = lp::BothWays::of(packing_problem(problem.spread()));
  if (!both) return;
  const auto hosts = problem.platform().hosts();
  std::vector<std::uint32_t> place_of(problem.platform().nodes().size(), 0);
  for (std::uint32_t i = 0; i < hosts.size(); ++i) place_of[index_of(hosts[i])] = i;
  std::map<std::uint32_t, std::vector<WeightedTree>> up;
  std::map<std::uint32_t, std::vector<WeightedTree>> down;
  const auto move = [&](const BlockOfTrees& combines, const BlockOfTrees& spreads) {
    const auto goes_both_ways = [&](const WeightedTree& a, const WeightedTree& b) {
      return a.tree == both->back(b.tree) && a.rate == b.rate;
    };
    if (!std::ranges::equal(combines.trees, spreads.trees, goes_both_ways)) return false;
    for (const WeightedTree& tree : spreads.trees) {
      const std::uint32_t middle = both->middle_of(tree.tree);
      lp::RoutedTree moved = both->from(tree.tree, middle);
      const std::uint32_t root = place_of[middle];
      add_tree(both->back(moved), tree.rate.value, up[root]);
      add_tree(std::move(moved), tree.rate.value, down[root]);
    }
    return true;
  };
  for (std::size_t i = 0; i + 1 < outcome.blocks.size(); i += 2) {
    const BlockOfTrees& combines = outcome.blocks[i];
    const BlockOfTrees& spreads = outcome.blocks[i + 1];
    if (move(combines, spreads)) continue;
    for (const WeightedTree& tree : combines.trees) up[combines.root].push_back(tree);
    for (const WeightedTree& tree : spreads.trees) down[combines.root].push_back(tree);
  }
  outcome.blocks.clear();
  for (auto& [root, trees] : up) {
    outcome.blocks.push_back({BlockKind::kCombine, root, std::move(trees)});
    outcome.blocks.push_back({BlockKind::kSpread, root, std::move(down[root])});
  }
}

FirstRoot prove_from_first_root(const AllRoots& problem, const AlgorithmOptions& options) {
  const Collective first = rooted_at(problem, 0);
  const CollectiveProblem joint(first);
  AlgorithmOptions limits = options;
  if (!joint.reduces_along_same_trees()) limits.deadline = options.deadline.share(kSeedShare);
  const lp::Packing packed = solve_packing(joint, first, limits, Purpose::kProof);
  Outcome rooted = joint.outcome_of(packed);
  make_blocks(problem, rooted);
  if (joint.reduces_along_same_trees()) return {std::move(rooted), true};
  rooted.bound.reset();
  const double sum = std::accumulate(packed.prices.begin(), packed.prices.end(), 0.0);
  if (!(sum > 0)) return {std::move(rooted), false};
  const lp::PackingProblem any = problem.parts().problem();
  try {
    const double cost = lp::TreePricer(any, options.deadline).cheapest_tree(packed.prices).cost;
    if (cost > 0) rooted.bound = BytesPerSecond{sum / cost};
  } catch (const LimitReached&) {  // there are trees, but no bound
  }
  constexpr double kRounding = 1e-9;
  const double gap = gap_of(packed, problem, options) + kRounding;
  const bool is_enough = rooted.bound && rooted.bound->value <= packed.rate * (1 + gap);
  return {std::move(rooted), is_enough};
}

Outcome these_or_from_first_root(const AllRoots& problem, Outcome found,
                                 const AlgorithmOptions& options) {
  Outcome rooted;
  try {
    rooted = run(find_algorithm(kOptimal), rooted_at(problem, 0), options);
  } catch (const LimitReached&) {
    return found;
  }
  make_blocks(problem, rooted);
  const auto is_less_crowded = [&] {
    constexpr double kRounding = 1e-9;
    return tree_count(rooted) <= tree_count(found) &&
           crowding_of(rooted, problem.spread()) <
               crowding_of(found, problem.spread()) * (1 - kRounding);
  };
  const bool is_better = is_slower(found, rooted, options.gap) ||
                         (!is_slower(rooted, found, options.gap) &&
                          (2 * tree_count(rooted) <= tree_count(found) || is_less_crowded()) &&
                          segments_to_fill(problem, rooted) < segments_to_fill(problem, found));
  if (!is_better) return found;
  rooted.bound = found.bound;
  rooted.prices = found.prices;
  rooted.ends.packing = found.ends.packing;
  return rooted;
}

}  // namespace espalier::planner
