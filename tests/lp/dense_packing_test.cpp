// Packings in which almost every resource is full at the optimum: prices by descent, and trees of
// proportional loads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "lp/bounds/plain_bound.hpp"
#include "lp/dense/proportional_trees.hpp"
#include "lp/packing/tree_pricer.hpp"
#include "lp/prices/multiplicative_weights.hpp"
#include "lp/prices/price_descent.hpp"
#include "lp/problem/parts_problem.hpp"
#include "tests/lp/plain_certificate.hpp"
#include "tests/lp/random_problems.hpp"

namespace espalier::lp::dense_packing_test {
namespace {

using testing::kAllModels;
using testing::ModelKind;
using testing::random_problem;
using testing::RandomProblem;

RandomProblem dense(std::uint32_t hosts, ModelKind model, std::uint64_t seed) {
  return random_problem({.hosts = hosts, .extra_links = 8 * hosts, .decades = 0.2}, model, seed);
}

// most: trees priced, of which column generation would need some thousand.
void expect_a_thousandth(const PackingProblem& problem, std::size_t most) {
  PackingOptions options;
  options.max_iterations = most;
  const Packing packing = pack_arborescences(problem, options);
  EXPECT_EQ(packing.end, PackingEnd::kGapReached);
  EXPECT_LE(packing.bound, packing.rate * (1 + options.dense_gap));
  EXPECT_EQ(packing_fault(problem, packing), "");
}

TEST(DensePacking, ComesWithinAThousandthOfAProof) {
  const RandomProblem made = dense(150, ModelKind::kUnidirectional, 1);
  expect_a_thousandth(made.problem(), 1200);
}

TEST(DensePacking, OfTwoPartsToo) {
  const RandomProblem made = dense(130, ModelKind::kOnePort, 2);
  const PartsProblem both(made.graph, made.occupation, {{made.root, true}, {made.root}});
  expect_a_thousandth(both.problem(), 1500);
}

// All links are full at the optimum, which is fifteen times the rate of one.
TEST(DensePacking, OfLinksAloneToo) {
  RandomProblem made =
      random_problem({.hosts = 130, .extra_links = 30 * 130}, ModelKind::kOnePort, 5);
  const auto arcs = static_cast<int>(made.graph.arc_count());
  SparseMatrix links(arcs, arcs);
  for (int arc = 0; arc < arcs; ++arc) links.insert(arc, arc) = 1e-8 * (1 + arc / 2 % 7 / 10.0);
  made.occupation = links;
  const PartsProblem both(made.graph, made.occupation, {{made.root, true}, {made.root}});
  expect_a_thousandth(both.problem(), 1500);
}

// A link is one link in however many parts it is: its price starts low in each.
TEST(DensePacking, ALinkHasOneArcAPart) {
  const RandomProblem made = dense(10, ModelKind::kMultiPort, 3);
  const PartsProblem both(made.graph, made.occupation, {{made.root, true}, {made.root}});
  EXPECT_EQ(arcs_per_resource(both.problem()), arcs_per_resource(made.problem()));
  const auto arcs = arcs_per_resource(made.problem());
  EXPECT_TRUE(std::all_of(arcs.begin() + 20, arcs.end(), [](auto count) { return count == 1; }));
}

TEST(PriceDescent, ApproachesTheOptimum) {
  const RandomProblem made = dense(40, ModelKind::kUnidirectional, 4);
  const PackingProblem problem = made.problem();
  const auto arcs = arcs_per_resource(problem);
  PriceDescent descent(first_weights(problem.occupation, arcs), arcs);
  TreePricer pricer(problem);
  double bound = Packing::kUnbounded;
  std::vector<double> best;
  for (std::size_t round = 0; round < PriceDescent::kRounds; ++round) {
    const PricedTree tree = pricer.cheapest_tree(descent.prices());
    if (1 / tree.cost < bound) {
      bound = 1 / tree.cost;
      best.assign(descent.prices().begin(), descent.prices().end());
    }
    descent.step(tree_load(problem.occupation, tree.tree), bound);
  }
  EXPECT_NEAR(std::accumulate(best.begin(), best.end(), 0.0), 1, 1e-9);
  EXPECT_NEAR(bound_from_prices(problem, best), bound, bound * 1e-9);
  const double optimum = pack_arborescences(problem).rate;
  EXPECT_LE(bound, optimum * 1.002);
}

// Jointly feasible under every model, near the bound or not.
TEST(ProportionalTrees, AreFeasible) {
  for (const ModelKind model : kAllModels) {
    const RandomProblem made = dense(30, model, 5);
    SCOPED_TRACE(made.name);
    const PackingProblem problem = made.problem();
    const Packing optimum = pack_arborescences(problem);
    const HostArcs arcs(made.graph, made.occupation,
                        std::vector<double>(made.graph.arc_count(), 0.0));
    const std::vector<double> least = plain_bound(problem).least_uses;
    const ProportionalOptions options{.loss = 1e-3, .of_cost = 50, .of_depth = 0};
    Packing packing = optimum;
    packing.trees = proportional_trees(problem, arcs, optimum.prices, optimum.bound, least,
                                       falling_turns(problem.root, 40, 0.1), options);
    packing.rate = total_rate(packing.trees);
    EXPECT_EQ(packing.trees.size(), 40U);
    EXPECT_EQ(packing_fault(problem, packing), "");
    if (model != ModelKind::kBoundedMultiPort) {
      EXPECT_GE(packing.rate, optimum.rate * 0.95);
    }
  }
}

// What any tree occupies at least, no tree occupies less of.
TEST(ProportionalTrees, LeastUsesAreBelowEveryTree) {
  for (const ModelKind model : kAllModels) {
    const RandomProblem made = random_problem({.hosts = 9, .relays = 2}, model, 6);
    SCOPED_TRACE(made.name);
    const std::vector<double> least = plain_bound(made.problem()).least_uses;
    ASSERT_EQ(least.size(), static_cast<std::size_t>(made.occupation.rows()));
    EXPECT_GT(std::ranges::max(least), 0);
    for (const RoutedTree& tree : pack_arborescences(made.problem()).pool) {
      const std::vector<double> load = tree_load(made.occupation, tree);
      for (std::size_t r = 0; r < load.size(); ++r) EXPECT_GE(load[r], least[r] * (1 - 1e-12));
    }
  }
}

}  // namespace
}  // namespace espalier::lp::dense_packing_test
