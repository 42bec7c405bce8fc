#include "planner/solve/rack_packing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lp/bounds/plain_bound.hpp"
#include "lp/fabric/racks.hpp"
#include "lp/packing/few_trees.hpp"
#include "lp/packing/tree_pricer.hpp"
#include "lp/problem/both_ways.hpp"
#include "planner/solve/direct_packing.hpp"
#include "planner/solve/solve_packing.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

constexpr double kShare = 0.5;  // of the time

// Whichever of the prices, those of the packing or the plain ones, prove the lower bound of
// `whole`.
void prove(const lp::PackingProblem& whole, std::vector<double> prices, lp::Packing& packing) {
  const auto total = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  lp::TreePricer pricer(whole);
  packing.bound = total(prices) / pricer.cheapest_tree(prices).cost;
  packing.prices = std::move(prices);
  lp::PlainBound plain = lp::plain_bound(whole);
  if (plain.rate < packing.bound) {
    packing.bound = plain.rate;
    packing.prices = std::move(plain.prices);
  }
  const double sum = total(packing.prices);
  for (double& price : packing.prices) price /= sum;
}

// Trees of `single`, and a bound of `whole`, whose resources are the same. gap: what is near
// enough.
std::optional<lp::Packing> packed(const lp::PackingProblem& single, const lp::PackingProblem& whole,
                                  const AlgorithmOptions& options, double gap, Purpose purpose) {
  if (options.deadline.passed()) return std::nullopt;
  const auto racks = lp::Racks::of(single);
  if (!racks) return std::nullopt;
  const lp::PackingProblem small = racks->problem();
  const Deadline deadline = options.deadline.share(kShare);
  lp::PackingOptions limits{options};
  limits.deadline = deadline;
  lp::Packing packing = lp::pack_arborescences(small, limits);
  if (packing.trees.empty() || packing.prices.empty()) return std::nullopt;
  if (purpose == Purpose::kPlan) {
    lp::FewTreesOptions few{options, options.max_trees};
    few.deadline = deadline;
    lp::TreesFound found = lp::pack_few_trees(small, packing, few);
    packing.trees = lp::flatten_trees(small, packing, found.trees, deadline).trees;
  }
  lp::Packing result;
  result.arborescences_priced = packing.arborescences_priced;
  result.master_solves = packing.master_solves;
  result.trees = racks->expand(packing.trees);
  result.rate = lp::total_rate(result.trees);
  prove(whole, racks->prices(packing.prices), result);
  const bool is_proven = result.rate * (1 + gap) >= result.bound;
  result.end = is_proven ? lp::PackingEnd::kGapReached : lp::PackingEnd::kLimit;
  return result;
}

// Completes a packing of `whole`.
void finish(const lp::PackingProblem& whole, const AlgorithmOptions& options, Purpose purpose,
            std::optional<lp::Packing>& packing) {
  if (!packing) return;
  if (purpose == Purpose::kPlan) make_less_crowded(whole, options, *packing);
  for (const lp::PackedTree& tree : packing->trees) packing->pool.push_back(tree.tree);
}

// Of trees in one direction.
std::optional<lp::Packing> packed_alone(const lp::PackingProblem& problem,
                                        const AlgorithmOptions& options, Purpose purpose) {
  if (!is_for_direct_trees(problem.graph)) return std::nullopt;
  auto packing = packed(problem, problem, options, options.gap, purpose);
  finish(problem, options, purpose, packing);
  return packing;
}

}  // namespace

std::optional<lp::Packing> rack_packing(const Instance& instance, const AlgorithmOptions& options,
                                        Purpose purpose) {
  return packed_alone(packing_problem(instance), options, purpose);
}

std::optional<lp::Packing> rack_packing(const CollectiveProblem& joint,
                                        const Collective& collective,
                                        const AlgorithmOptions& options, Purpose purpose) {
  const lp::PackingProblem whole = joint.problem();
  if (!goes_both_ways(collective.operation())) {
    return packed_alone(whole, options, purpose);
  }
  const lp::PackingProblem single = packing_problem(*collective.broadcast());
  if (!is_for_direct_trees(single.graph)) return std::nullopt;
  const auto both = lp::BothWays::of(single);
  if (!both) return std::nullopt;
  auto packing = packed(both->problem(), whole, options, gap_near_enough(options), purpose);
  if (packing) join_both_ways(joint, *both, packing->trees);
  finish(whole, options, purpose, packing);
  return packing;
}

}  // namespace espalier::planner
