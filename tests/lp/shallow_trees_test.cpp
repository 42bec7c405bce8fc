#include "lp/packing/shallow_trees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "lp/graph/tree_routes.hpp"
#include "tests/lp/tree_sets.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::shallow_trees_test {
namespace {

using namespace espalier::testing;
using namespace lp::testing;

class ShallowTrees : public ::testing::TestWithParam<ModelKind> {};

TEST_P(ShallowTrees, AreFeasibleAndWithinTheDepthLimit) {
  for (std::uint64_t seed = 1; seed <= draws(12); ++seed) {
    const RandomProblem made = random_problem({.hosts = 16,
                                               .relays = seed % 4 == 0 ? 3U : 0U,
                                               .extra_links = 40,
                                               .shared_links = seed % 3 == 0 ? 2U : 0U},
                                              GetParam(), seed);
    SCOPED_TRACE(made.name);
    const Packing packing = pack_arborescences(made.problem());
    bool possible = false;
    for (const std::uint32_t depth : {1U, 2U, 3U, 5U, 8U, 15U}) {
      const auto trees = pack_shallow_trees(made.problem(), packing, {{}, depth}).trees;
      EXPECT_TRUE(!trees.empty() || !possible);
      possible = !trees.empty();
      if (!possible) continue;
      EXPECT_EQ(fault_of(made, packing, trees), "");
      EXPECT_LE(rate_of(trees), packing.bound * (1 + 1e-6));
      for (const PackedTree& packed : trees) {
        EXPECT_LE(depth_of(made.graph, made.root, packed.tree), depth);
      }
      const auto two = pack_shallow_trees(made.problem(), packing, {{}, depth, {}, 2}).trees;
      EXPECT_LE(two.size(), 2U);
      EXPECT_EQ(fault_of(made, packing, two), "");
    }
    EXPECT_TRUE(possible);
  }
}

TEST_P(ShallowTrees, AreWithinTheLatencyLimit) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    RandomProblem made = random_problem(
        {.hosts = 14, .relays = seed % 4 == 0 ? 3U : 0U, .extra_links = 40}, GetParam(), seed);
    made.graph.latency_s = random_latencies(made.graph, seed);
    SCOPED_TRACE(made.name);
    const Packing packing = pack_arborescences(made.problem());
    const auto farthest = [&](const std::vector<PackedTree>& trees) {
      Seconds most;
      for (const PackedTree& packed : trees) {
        most = std::max(most, latency_of(made.graph, made.root, packed.tree));
      }
      return most;
    };
    // No path is longer than that; limits below the first infeasible one are infeasible, too.
    Seconds limit{1.12};
    double rate = packing.rate;
    bool possible = true;
    for (int step = 0; step < 24; ++step, limit.value *= 0.8) {
      const auto trees = pack_shallow_trees(made.problem(), packing, {{}, 1, limit}).trees;
      if (step == 0) {
        EXPECT_NEAR(rate_of(trees) / packing.rate, 1, 1e-6);
      }
      EXPECT_TRUE(trees.empty() || possible);
      possible = !trees.empty();
      EXPECT_LE(farthest(trees).value, limit.value * (1 + 1e-9));
      if (!possible) continue;
      EXPECT_EQ(fault_of(made, packing, trees), "");
      rate = std::min(rate, rate_of(trees));
    }
    EXPECT_FALSE(possible);
    EXPECT_LT(rate, packing.rate * (1 - 1e-3));
  }
}

// No tree is deeper than hosts - 1 edges, so that limit has no effect.
TEST_P(ShallowTrees, ReachTheOptimumWhereTheLimitHasNoEffect) {
  const RandomProblem made = random_problem({.hosts = 12, .extra_links = 30}, GetParam(), 5);
  const Packing packing = pack_arborescences(made.problem());
  const auto trees = pack_shallow_trees(made.problem(), packing, {{}, 11}).trees;
  EXPECT_NEAR(rate_of(trees) / packing.rate, 1, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Models, ShallowTrees, ::testing::ValuesIn(kAllModels));

// All links equal, one-port: 0 to 1, 2, 3, and those to one another. A star has period 3. The best
// trees of two levels send from the root once: three of them, each with another middle, keep every
// port busy for (1 + 2 + 0 + 0...) at rates 1/3, 1/3, 1/3: a middle sends 2 x 1/3 < 1.
TEST(ShallowTrees, OfTwoLevelsReachTheOptimumOfAClique) {
  RandomProblem made =
      random_problem({.hosts = 4, .extra_links = 200, .equal = true}, ModelKind::kOnePort, 1);
  ASSERT_EQ(made.graph.arc_count(), 12U);
  const Packing packing = pack_arborescences(made.problem());
  const auto flat = pack_shallow_trees(made.problem(), packing, {{}, 1}).trees;
  EXPECT_NEAR(rate_of(flat) / packing.rate, 1.0 / 3, 1e-9);
  const auto two_levels = pack_shallow_trees(made.problem(), packing, {{}, 2}).trees;
  EXPECT_NEAR(rate_of(two_levels) / packing.rate, 1, 1e-6);
}

}  // namespace
}  // namespace espalier::lp::shallow_trees_test
