#include "planner/solve/root_binomials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "planner/check/verify.hpp"
#include "planner/plan/send_windows.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::root_binomials_test {
namespace {

using platforms::Model;
using ::testing::IsEmpty;

platforms::Platform star(std::size_t hosts, double heterogeneity) {
  platforms::StarFamily family;
  family.hosts = hosts;
  family.spread.heterogeneity = heterogeneity;
  return platforms::generate_star(family);
}

constexpr std::size_t kHosts = 24;
constexpr std::size_t kDoublings = 5;  // of one host, until there are 24

void check(const AllRoots& problem) {
  SCOPED_TRACE(std::string(name_of(problem.operation())));
  const Outcome outcome = solve(problem, {}, Purpose::kPlan);
  const double proven = solve(problem, {}, Purpose::kProof).bound->value;
  EXPECT_NEAR(outcome.bound->value, proven, 1e-6 * proven);
  EXPECT_NEAR(throughput_of(outcome).value, proven, 1e-6 * proven);
  const Plan plan = make_plan(problem, "optimal", outcome, {65536});
  EXPECT_THAT(verify(plan, problem.platform()).faults, IsEmpty());
  std::vector<std::set<std::uint32_t>> children(kHosts);
  for (const PlanBlock& block : plan.blocks) {
    ASSERT_EQ(block.trees.size(), 1U);
    EXPECT_LE(depth_of(block.trees.front(), block.root), kDoublings);
    if (block.kind != BlockKind::kSpread && problem.operation() == Operation::kAllreduce) continue;
    for (const PlanEdge& edge : block.trees.front().edges) {
      children[edge.parent].insert(edge.child);
    }
  }
  for (const auto& of_host : children) EXPECT_EQ(of_host.size(), kDoublings);
}

// A port sends, or receives, all parts but one, whatever the trees: unlike hosts wait for the
// slowest.
TEST(RootBinomials, AtOneSwitchAreTheOptimum) {
  for (const double heterogeneity : {0.0, 0.3}) {
    const platforms::Platform platform = star(kHosts, heterogeneity);
    for (const Operation operation : {Operation::kAllgather, Operation::kReduceScatter}) {
      check(AllRoots(operation, platform, Model::kOnePort));
    }
  }
  const platforms::Platform equal = star(kHosts, 0);
  check(AllRoots(Operation::kAllreduce, equal, Model::kOnePort));
  check(AllRoots(Operation::kAllgather, testing::complete_platform(kHosts, 10), Model::kOnePort));
}

TEST(RootBinomials, AreNotForWhatTheyAreWorseFor) {
  const auto exist = [](const platforms::Platform& platform, Operation operation,
                        std::vector<double> shares = {}) {
    const AllRoots problem(operation, platform, Model::kOnePort, {}, std::move(shares));
    return along_binomial_trees(problem, {}).has_value();
  };
  EXPECT_TRUE(exist(star(kHosts, 0), Operation::kAllgather));
  EXPECT_FALSE(exist(star(kFewNeighbours + 1, 0), Operation::kAllgather));
  // A fast host is the better root.
  EXPECT_FALSE(exist(star(kHosts, 0.3), Operation::kAllreduce));
  std::vector<double> shares(kHosts, 1);
  shares[3] = kHosts;
  EXPECT_FALSE(exist(star(kHosts, 0), Operation::kAllgather, shares));
  platforms::TwoClustersFamily clusters;  // nothing is thin but far
  clusters.hosts = {8, 8};
  clusters.thin_bandwidth = {1e12};
  clusters.thin_latency = Seconds{5e-3};
  EXPECT_FALSE(exist(platforms::generate_two_clusters(clusters), Operation::kAllgather));
}

}  // namespace
}  // namespace espalier::planner::root_binomials_test
