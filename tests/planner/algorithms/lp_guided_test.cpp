// lp-grow and lp-prune guided by the optimum of another model.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "planner/solve/solve_packing.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::lp_guided_test {
namespace {

using espalier::testing::DrawnPlatform;
using espalier::testing::instance_of;
using espalier::testing::platform_families;
using espalier::testing::PlatformFamily;
using espalier::testing::run;
using espalier::testing::sample_platform;
using espalier::testing::trace_of;

constexpr auto kOnePort = platforms::Model::kOnePort;
constexpr auto kMultiPort = platforms::Model::kMultiPort;

// The tree is the one that follows the other model's packing; its rate is that of the instance's.
TEST(LpGuided, FollowsTheOptimumOfTheModelNamed) {
  bool differs = false;
  for (const PlatformFamily& family : platform_families()) {
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
      SCOPED_TRACE(trace_of(family, seed, kMultiPort));
      const DrawnPlatform drawn = family.draw(seed, 9);
      const Instance instance = drawn.under(kMultiPort);
      const lp::Packing one_port = solve_packing(drawn.under(kOnePort), {});
      AlgorithmOptions by_packing;
      by_packing.packing = &one_port;
      AlgorithmOptions by_model;
      by_model.guided_by = kOnePort;
      for (const char* name : {"lp-grow", "lp-prune"}) {
        const Outcome wanted = run(name, instance, by_packing);
        const Outcome got = run(name, instance, by_model);
        ASSERT_EQ(got.trees.size(), 1U);
        EXPECT_EQ(got.trees[0].tree, wanted.trees[0].tree) << name;
        EXPECT_EQ(got.trees[0].rate, wanted.trees[0].rate) << name;
        differs = differs || !(run(name, instance).trees[0].tree == got.trees[0].tree);
      }
    }
  }
  EXPECT_TRUE(differs) << "the guide changed no tree";
}

// The optimum of another model bounds nothing here. The instance's own is kept where it is known.
TEST(LpGuided, NeverTakesTheGuidesBoundForItsOwn) {
  const auto platform = sample_platform("seed-sketch.json");
  const Instance instance = instance_of(platform, "P0", "multi-port");
  AlgorithmOptions options;
  options.guided_by = kOnePort;
  EXPECT_FALSE(run("lp-grow", instance, options).bound.has_value());
  const lp::Packing own = solve_packing(instance, {});
  options.packing = &own;
  EXPECT_DOUBLE_EQ(run("lp-grow", instance, options).bound.value().value, own.bound);
}

TEST(LpGuided, ByItsOwnModelIsTheDefault) {
  const auto platform = sample_platform("seed-sketch.json");
  const Instance instance = instance_of(platform, "P0");
  AlgorithmOptions options;
  options.guided_by = kOnePort;
  const Outcome outcome = run("lp-prune", instance, options);
  EXPECT_EQ(outcome.trees[0].tree, run("lp-prune", instance).trees[0].tree);
  EXPECT_TRUE(outcome.bound.has_value());
}

// Without time for a search there is still a tree, and the ends say so.
TEST(LpGuided, ReturnsATreeWhereTheDeadlineHasPassed) {
  const auto platform = sample_platform("seed-sketch.json");
  const Instance instance = instance_of(platform, "P0", "multi-port");
  AlgorithmOptions options;
  options.guided_by = kOnePort;
  options.deadline = Deadline(Seconds{1e-9});
  try {
    const Outcome outcome = run("lp-grow", instance, options);
    ASSERT_EQ(outcome.trees.size(), 1U);
    EXPECT_FALSE(outcome.bound.has_value());
  } catch (const LimitReached&) {  // nothing could be made
  }
}

}  // namespace
}  // namespace espalier::planner::lp_guided_test
