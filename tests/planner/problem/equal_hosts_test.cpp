// Reductions and allreduces on equal hosts, whose optimum and whose two trees are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "planner/solve/make_plan.hpp"
#include "tests/planner/references/collectives.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::equal_hosts_test {
namespace {

using espalier::testing::complete_platform;
using espalier::testing::over;
using espalier::testing::rate_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of n equal hosts, every one but the root sends once for the reduction, and the broadcast has n -
// 1 edges: 2 (n - 1) sends per byte on n out-ports. The root can do more of them, so all ports can
// be full.
TEST(EqualHosts, AllreduceTakesTwiceNMinusOneNthsOfAByte) {
  for (const std::size_t hosts : {2U, 3U, 4U, 5U, 8U}) {
    const platforms::Platform platform = complete_platform(hosts, 10);
    const double n = static_cast<double>(hosts);
    EXPECT_NEAR(rate_of(over(platform, Operation::kAllreduce), "optimal"), 10 * n / (2 * (n - 1)),
                1e-5)
        << hosts;
    EXPECT_NEAR(rate_of(over(platform, Operation::kReduce), "optimal"), 10, 1e-5) << hosts;
  }
}

// Each host in the middle of the chain receives twice and sends twice.
TEST(EqualHosts, AChainHalvesInAnAllreduceAndNotInAReduce) {
  const platforms::Platform platform = complete_platform(5, 10);
  EXPECT_NEAR(rate_of(over(platform, Operation::kReduce), "chain"), 10, 1e-9);
  EXPECT_NEAR(rate_of(over(platform, Operation::kAllreduce), "chain"), 5, 1e-9);
  using platforms::Model;
  EXPECT_NEAR(
      rate_of(over(platform, Operation::kAllreduce, Model::kOnePortUnidirectional), "chain"), 2.5,
      1e-9);
}

// Two hosts that send and receive on one port alternate.
TEST(EqualHosts, TwoHostsOfOnePortEach) {
  const platforms::Platform platform = complete_platform(2, 10);
  const auto model = platforms::Model::kOnePortUnidirectional;
  EXPECT_NEAR(rate_of(over(platform, Operation::kReduce, model), "optimal"), 10, 1e-6);
  EXPECT_NEAR(rate_of(over(platform, Operation::kAllreduce, model), "optimal"), 5, 1e-6);
}

// In TwoTreeC with an odd number of hosts, each host sends at most twice and receives at most
// twice, in both halves in total: a tree's inner host exchanges half a byte with each of its two
// children. With an even number the host in the middle is the root of both T3 and T4 and sends once
// more.
TEST(EqualHosts, TwoTreesOfTtc) {
  for (const std::size_t hosts : {5U, 9U, 21U}) {
    const Collective odd = over(complete_platform(hosts, 10), Operation::kReduce);
    EXPECT_NEAR(rate_of(odd, "two-tree-complete"), 10, 1e-9) << hosts;
    const platforms::Platform platform = complete_platform(hosts, 10);
    for (const char* name : {"two-tree-complete", "two-tree-complete+complete"}) {
      EXPECT_NEAR(rate_of(over(platform, Operation::kAllreduce), name), 5, 1e-9) << hosts << name;
    }
  }
  const platforms::Platform twenty = complete_platform(20, 10);
  EXPECT_NEAR(rate_of(over(twenty, Operation::kAllreduce), "two-tree-complete"), 5, 1e-9);
  EXPECT_NEAR(rate_of(over(twenty, Operation::kAllreduce), "two-tree-complete+complete"), 10. / 3,
              1e-9);
}

// Repaired, no host sends or receives more than twice in both halves in total, whatever P is.
TEST(EqualHosts, TwoTreesOfTtcRepaired) {
  constexpr const char* kRepaired = "two-tree-complete+complete-repaired";
  for (const std::size_t hosts : {4U, 5U, 6U, 8U, 12U, 20U, 21U, 32U}) {
    const platforms::Platform platform = complete_platform(hosts, 10);
    EXPECT_NEAR(rate_of(over(platform, Operation::kAllreduce), kRepaired), 5, 1e-9) << hosts;
  }
  const platforms::Platform two = complete_platform(2, 10);
  EXPECT_NEAR(rate_of(over(two, Operation::kAllreduce), kRepaired), 10, 1e-9);
}

// Among three a host in a tree of two has one child only.
TEST(EqualHosts, ThreeHostsInTwoTrees) {
  const platforms::Platform three = complete_platform(3, 10);
  EXPECT_NEAR(rate_of(over(three, Operation::kAllreduce), "two-tree-complete"), 20. / 3, 1e-9);
}

// Children by false rank, of a tree over hosts n0, n1, ... from n0.
std::vector<std::vector<std::uint32_t>> children_of(const PlanTree& tree, std::size_t hosts) {
  std::vector<std::vector<std::uint32_t>> children(hosts);
  for (const auto [parent, child] : tree.edges) children[parent].push_back(child);
  return children;
}

// TTC, "TwoTreeC+C": 20 processes, T3 from 10 upwards, T4 from 10 downwards.
TEST(TwoTreeFromMiddle, NumbersCyclicallyLevelByLevel) {
  const platforms::Platform platform = complete_platform(20, 10);
  const Collective collective = over(platform, Operation::kAllreduce);
  const Outcome outcome =
      run(find_algorithm("two-tree-complete+complete", Operation::kAllreduce), collective, {});
  const Plan plan = make_plan(collective, "two-tree-complete+complete", outcome, Bytes{1});
  const auto t3 = children_of(plan.broadcast_trees.at(0), 20);
  EXPECT_THAT(t3[0], ElementsAre(10));
  EXPECT_THAT(t3[10], ElementsAre(11, 12));
  EXPECT_THAT(t3[14], ElementsAre(19, 1));
  EXPECT_THAT(t3[18], ElementsAre(8, 9));
  EXPECT_THAT(t3[1], IsEmpty());
  const auto t4 = children_of(plan.broadcast_trees.at(1), 20);
  EXPECT_THAT(t4[0], ElementsAre(10));
  EXPECT_THAT(t4[10], ElementsAre(9, 8));
  EXPECT_THAT(t4[6], ElementsAre(1, 19));
  const auto t1 = children_of(plan.reduce_trees.at(0), 20);
  EXPECT_THAT(t1[0], ElementsAre(1));
  EXPECT_THAT(t1[1], ElementsAre(2, 3));
  EXPECT_THAT(children_of(plan.reduce_trees.at(1), 20)[19], ElementsAre(18, 17));
}

Plan from_middle(const char* name, std::size_t hosts) {
  const platforms::Platform platform = complete_platform(hosts, 10);
  const Collective collective = over(platform, Operation::kAllreduce);
  return make_plan(collective, name,
                   run(find_algorithm(name, Operation::kAllreduce), collective, {}), Bytes{1});
}

// The proof of docs/methods.md: the inner hosts of T3 are from ceil(P / 2) upwards, those of T4
// from the one below downwards, at most floor((P - 1) / 2) of each.
TEST(TwoTreeFromMiddle, RepairedNoHostHasChildrenInBothTrees) {
  for (std::size_t hosts = 2; hosts <= 66; ++hosts) {
    SCOPED_TRACE(hosts);
    const Plan plan = from_middle("two-tree-complete+complete-repaired", hosts);
    ASSERT_NO_THROW(check_structure(plan));
    const auto t3 = children_of(plan.broadcast_trees.at(0), hosts);
    const auto t4 = children_of(plan.broadcast_trees.at(1), hosts);
    EXPECT_THAT(t3[0], ElementsAre((hosts + 1) / 2));
    for (std::size_t host = 1; host < hosts; ++host) {
      EXPECT_TRUE(t3[host].empty() || t4[host].empty()) << host;
      EXPECT_LE(t3[host].size() + t4[host].size(), 2U) << host;
    }
  }
}

// Where their number is odd, nothing is repaired.
TEST(TwoTreeFromMiddle, RepairedIsAsPrintedForAnOddNumberOfHosts) {
  for (std::size_t hosts = 3; hosts <= 33; hosts += 2) {
    const Plan printed = from_middle("two-tree-complete+complete", hosts);
    const Plan repaired = from_middle("two-tree-complete+complete-repaired", hosts);
    for (const std::size_t tree : {0U, 1U}) {
      EXPECT_EQ(printed.broadcast_trees[tree].edges, repaired.broadcast_trees[tree].edges) << hosts;
    }
  }
}

}  // namespace
}  // namespace espalier::planner::equal_hosts_test
