// The algorithms that look for one good tree, guided by the packing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "planner/registry.hpp"
#include "planner/solve/solve_packing.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/counting_clock.hpp"

namespace espalier::planner::single_trees_test {
namespace {

using espalier::testing::CountingClock;
using espalier::testing::instance_of;
using espalier::testing::period;
using espalier::testing::run;
using espalier::testing::sample_platform;
using espalier::testing::small_platform;
using espalier::testing::total_rate;
using espalier::testing::tree_text;

//        1               Rates x of s>a>b and y of a<s>b:  s: x + 3 y <= 1,  a: 2.5 x <= 1,
//    s -----> a          b's in-port: 2.5 x + 2 y <= 1.  Best x = 2/11, y = 3/11, so that
//    |        |          n(s,a) = 5/11, n(s,b) = 3/11, n(a,b) = 2/11: a>b carries fewest messages,
//    | 2      | 2.5      though the tree with it has the shorter period (2.5 against 3).
//    +-> b <--+
platforms::Platform triangle() {
  return small_platform({"s", "a", "b"}, {{"s", "a", 1}, {"s", "b", 2}, {"a", "b", 2.5}});
}

TEST(LpGuided, FollowsTheMessagesOfTheOptimum) {
  const auto platform = triangle();
  const Instance instance = instance_of(platform, "s");
  EXPECT_NEAR(total_rate(run("optimal", instance).trees), 5.0 / 11, 1e-6);
  for (const std::string name : {"lp-prune", "lp-grow"}) {
    EXPECT_EQ(tree_text(name, instance), "s>a s>b") << name;
    EXPECT_DOUBLE_EQ(period(run(name, instance)), 3) << name;
  }
}

TEST(BestTree, IsBetterThanTheLpGuidedTrees) {
  const auto platform = triangle();
  const Instance instance = instance_of(platform, "s");
  for (const std::string name : {"best-tree", "exact-tree"}) {
    EXPECT_EQ(tree_text(name, instance), "s>a a>b") << name;
    EXPECT_DOUBLE_EQ(period(run(name, instance)), 2.5) << name;
  }
}

TEST(ExactTree, ProvesThatNoSingleTreeIsBetter) {
  const auto platform = triangle();
  const Outcome outcome = run("exact-tree", instance_of(platform, "s"));
  ASSERT_TRUE(outcome.single_tree_bound.has_value());
  EXPECT_NEAR(outcome.single_tree_bound->value, 1 / 2.5, 1e-6);
  EXPECT_NEAR(outcome.bound->value, 5.0 / 11, 1e-5);
  EXPECT_EQ(outcome.ends.worst(), Termination::kDone);
}

TEST(ExactTree, EndsAtTheTimeLimitWithATreeAndAValidBound) {
  const auto platform = platforms::generate_random({.nodes = 60, .density = 0.2, .seed = 1});
  const Instance instance(platform, platform.hosts().front(), platforms::Model::kMultiPort);
  AlgorithmOptions options;
  options.deadline = Deadline(Seconds{0.5});
  const Outcome outcome = run("exact-tree", instance, options);
  ASSERT_EQ(outcome.trees.size(), 1U);
  ASSERT_TRUE(outcome.single_tree_bound.has_value());
  EXPECT_GE(outcome.single_tree_bound->value, outcome.trees[0].rate.value * (1 - 1e-9));
  if (outcome.ends.worst() != Termination::kTimeLimit) {
    EXPECT_LE(outcome.single_tree_bound->value, outcome.trees[0].rate.value * (1 + 2e-6));
  }
}

// GLPK counts in milliseconds and may give up before the last of them is over.
TEST(ExactTree, CallsAnLpThatRanOutOfTimeATimeLimitBeforeTheDeadlineHasPassed) {
  const auto platform = platforms::generate_random({.nodes = 60, .density = 0.2, .seed = 1});
  const Instance instance(platform, platform.hosts().front(), platforms::Model::kMultiPort);
  CountingClock standing_still(Seconds{0});
  const lp::Packing packing = solve_packing(instance, {});
  AlgorithmOptions options;
  options.packing = &packing;
  options.deadline = Deadline(Seconds{1e-6}, &standing_still);
  const Outcome outcome = run("exact-tree", instance, options);
  ASSERT_TRUE(outcome.single_tree_bound.has_value());
  EXPECT_GT(outcome.single_tree_bound->value, outcome.trees[0].rate.value * (1 + 2e-6));
  EXPECT_EQ(outcome.ends.proof, Termination::kTimeLimit);
}

// The papers' random platforms, and what their best trees reach.
class PapersPlatforms : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(PapersPlatforms, BestTreeIsCloseToTheProvenOne) {
  const auto platform =
      platforms::generate_random({.nodes = 30, .density = 0.12, .seed = GetParam()});
  const Instance instance(platform, platform.hosts().front(), platforms::Model::kOnePort);
  const double exact = total_rate(run("exact-tree", instance).trees);
  EXPECT_GE(total_rate(run("best-tree", instance).trees), 0.98 * exact);
  for (const AlgorithmEntry& entry : algorithms()) {
    if (entry.name == "optimal" || !entry.is_for(instance)) continue;
    const Outcome outcome = entry.run(instance, {});
    if (outcome.trees.size() == 1) {
      EXPECT_LE(total_rate(outcome.trees), exact * (1 + 1e-6)) << entry.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PapersPlatforms, ::testing::Range<std::uint64_t>(1, 7));

TEST(SharedPacking, GivesTheSameTreesAsASeparatePacking) {
  const auto platform = sample_platform("two-clusters-thin-link.json");
  const Instance instance(platform, platform.hosts().front(), platforms::Model::kOnePort);
  const lp::Packing packing = solve_packing(instance, {});
  AlgorithmOptions shared;
  shared.packing = &packing;
  for (const std::string name : {"optimal", "exact-tree", "best-tree", "lp-grow", "lp-prune"}) {
    const Outcome own = run(name, instance);
    const Outcome given = run(name, instance, shared);
    ASSERT_EQ(own.trees.size(), given.trees.size()) << name;
    for (std::size_t i = 0; i < own.trees.size(); ++i) {
      EXPECT_EQ(own.trees[i].tree, given.trees[i].tree) << name;
    }
    EXPECT_EQ(own.bound, given.bound) << name;
  }
}

}  // namespace
}  // namespace espalier::planner::single_trees_test
