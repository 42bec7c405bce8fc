#include "planner/solve/dense_roots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "planner/check/verify.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::dense_roots_test {
namespace {

using platforms::Model;
using ::testing::IsEmpty;

// Of the plan that is made: no faults, and a proof of all but a thousandth.
Outcome solved(const AllRoots& problem) {
  Outcome outcome = solve(problem, {}, Purpose::kPlan);
  EXPECT_EQ(outcome.ends.packing, Termination::kDone);
  EXPECT_LE(outcome.bound->value, throughput_of(outcome).value * 1.001);
  const Plan plan = make_plan(problem, "optimal", outcome, {65536});
  EXPECT_THAT(verify(plan, problem.platform(), {.prove = false}).faults, IsEmpty());
  return outcome;
}

// Columns alone leave a hundredth after 20 s.
TEST(DenseRoots, FollowAFewColumns) {
  platforms::RandomFamily family;
  family.nodes = 130;
  family.density = 0.15;
  const platforms::Platform platform = platforms::generate_random(family);
  const AllRoots problem(Operation::kAllgather, platform, Model::kOnePortUnidirectional);
  EXPECT_EQ(dense_roots_for(problem), DenseRoots::kNext);
  EXPECT_EQ(solved(problem).blocks.size(), family.nodes);
}

// Copies of the graph for all roots would have two million arcs.
TEST(DenseRoots, AreTriedAtOnceAmongManyHosts) {
  platforms::TorusFamily family;
  family.dimensions = {27, 27};
  const platforms::Platform platform = platforms::generate_torus(family);
  const AllRoots problem(Operation::kReduceScatter, platform, Model::kMultiPort);
  EXPECT_EQ(dense_roots_for(problem), DenseRoots::kAtOnce);
  AlgorithmOptions one;
  one.max_trees = 1;
  EXPECT_LE(tree_count(solve(problem, one, Purpose::kPlan)), platform.hosts().size());
  solved(problem);
}

TEST(DenseRoots, AreChainsWhereTheseAreTheOptimum) {
  constexpr std::size_t kHosts = 130;
  const platforms::Platform platform = testing::complete_platform(kHosts, 10);
  std::vector<double> shares(kHosts, 1);
  shares[3] = 2;
  const AllRoots problem(Operation::kAllgather, platform, Model::kOnePort, {}, shares);
  const auto outcome = dense_roots(problem, {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(tree_count(*outcome), kHosts);
  // Each receives all but its own share, at 10 B/s.
  const double best = 10 / (1 - 1 / (kHosts + 1.0));
  EXPECT_NEAR(throughput_of(*outcome).value, best, 1e-6 * best);
  EXPECT_NEAR(outcome->bound->value, best, 1e-6 * best);
}

TEST(DenseRoots, AreNotForFewHostsNorForSwitchesNorForFreeRoots) {
  const auto kind_for = [](Operation operation, const platforms::Platform& platform) {
    return dense_roots_for(AllRoots(operation, platform, Model::kOnePort));
  };
  EXPECT_EQ(kind_for(Operation::kAllgather, testing::complete_platform(20, 10)),
            DenseRoots::kNever);
  EXPECT_EQ(kind_for(Operation::kAllreduce, testing::complete_platform(130, 10)),
            DenseRoots::kNever);
  platforms::StarFamily star;
  star.hosts = 130;
  EXPECT_EQ(kind_for(Operation::kAllgather, platforms::generate_star(star)), DenseRoots::kNever);
}

TEST(DenseRoots, AreNoneWhenTheDeadlineHasPassed) {
  const platforms::Platform platform = testing::complete_platform(130, 10);
  AlgorithmOptions options;
  options.deadline = Deadline(Seconds{0});
  EXPECT_FALSE(dense_roots(AllRoots(Operation::kAllgather, platform, Model::kOnePort), options));
}

}  // namespace
}  // namespace espalier::planner::dense_roots_test
