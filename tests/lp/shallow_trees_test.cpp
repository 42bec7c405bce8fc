#include "lp/shallow_trees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "lp/certificate.hpp"
#include "tests/lp/random_problems.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp {
namespace {

using espalier::testing::draws;
using testing::kAllModels;
using testing::ModelKind;
using testing::random_problem;
using testing::RandomProblem;

double rate_of(const std::vector<PackedTree>& trees) {
  return std::accumulate(trees.begin(), trees.end(), 0.0,
                         [](double sum, const PackedTree& tree) { return sum + tree.rate; });
}

std::string fault_of(const RandomProblem& made, Packing packing, std::vector<PackedTree> trees) {
  packing.rate = rate_of(trees);
  packing.trees = std::move(trees);
  return packing_fault(made.problem(), packing);
}

class ShallowTrees : public ::testing::TestWithParam<ModelKind> {};

TEST_P(ShallowTrees, AreFeasibleAndNoDeeperThanAsked) {
  for (std::uint64_t seed = 1; seed <= draws(12); ++seed) {
    const RandomProblem made = random_problem({.hosts = 16,
                                               .relays = seed % 4 == 0 ? 3U : 0U,
                                               .extra_links = 40,
                                               .shared_wires = seed % 3 == 0 ? 2U : 0U},
                                              GetParam(), seed);
    SCOPED_TRACE(made.name);
    const Packing packing = pack_arborescences(made.problem());
    bool possible = false;
    for (const std::uint32_t depth : {1U, 2U, 3U, 5U, 8U, 15U}) {
      const auto trees = pack_shallow_trees(made.problem(), packing, {.max_depth = depth});
      EXPECT_TRUE(!trees.empty() || !possible);
      possible = !trees.empty();
      if (!possible) continue;
      EXPECT_EQ(fault_of(made, packing, trees), "");
      EXPECT_LE(rate_of(trees), packing.bound * (1 + 1e-6));
      for (const PackedTree& packed : trees) {
        EXPECT_LE(depth_of(made.graph, made.root, packed.tree), depth);
      }
      const auto two =
          pack_shallow_trees(made.problem(), packing, {.max_depth = depth, .max_trees = 2});
      EXPECT_LE(two.size(), 2U);
      EXPECT_EQ(fault_of(made, packing, two), "");
    }
    EXPECT_TRUE(possible);
  }
}

// No tree is deeper than hosts - 1 edges, so that limit is none.
TEST_P(ShallowTrees, ReachTheOptimumWhereTheLimitIsNone) {
  const RandomProblem made = random_problem({.hosts = 12, .extra_links = 30}, GetParam(), 5);
  const Packing packing = pack_arborescences(made.problem());
  const auto trees = pack_shallow_trees(made.problem(), packing, {.max_depth = 11});
  EXPECT_NEAR(rate_of(trees) / packing.rate, 1, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Models, ShallowTrees, ::testing::ValuesIn(kAllModels));

// All links alike, one-port: 0 to 1, 2, 3, and those to one another. A star has period 3; of trees
// of two levels the best send from the root once: three of them, each with another middle, keep
// every port busy for (1 + 2 + 0 + 0...) at rates 1/3, 1/3, 1/3: a middle sends 2 x 1/3 < 1.
TEST(ShallowTrees, OfTwoLevelsReachTheOptimumOfAClique) {
  RandomProblem made =
      random_problem({.hosts = 4, .extra_links = 200, .equal = true}, ModelKind::kOnePort, 1);
  ASSERT_EQ(made.graph.arc_count(), 12U);
  const Packing packing = pack_arborescences(made.problem());
  const auto flat = pack_shallow_trees(made.problem(), packing, {.max_depth = 1});
  EXPECT_NEAR(rate_of(flat) / packing.rate, 1.0 / 3, 1e-9);
  const auto two_levels = pack_shallow_trees(made.problem(), packing, {.max_depth = 2});
  EXPECT_NEAR(rate_of(two_levels) / packing.rate, 1, 1e-6);
}

}  // namespace
}  // namespace espalier::lp
