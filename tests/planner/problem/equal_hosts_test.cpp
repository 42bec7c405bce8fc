// Reductions and allreduces on equal hosts, whose optimum and whose two trees are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "planner/solve/make_plan.hpp"
#include "tests/planner/references/collectives.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::equal_hosts_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

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

}  // namespace
}  // namespace espalier::planner::equal_hosts_test
