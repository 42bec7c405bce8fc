// The rounds of a plan, computed without ranks.
#include "engine/rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/refusal.hpp"

namespace espalier::engine::rounds_test {
namespace {

using planner::Plan;
using planner::PlanTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The plan of two-tree-sanders for four nodes, with colors on the edges.
//       0              0
//       | 0            | 1
//       2              1
//    0 / \ 1        0 / \ 1
//     1   3          3   2
Plan four_nodes() {
  Plan plan;
  plan.platform = plan.model = plan.algorithm = "test";
  plan.nodes = {"n0", "n1", "n2", "n3"};
  plan.source = "n0";
  plan.throughput = {2};
  plan.broadcast_trees = {{{1}, {{0, 2}, {2, 1}, {2, 3}}, {}, {0, 0, 1}, {}},
                          {{1}, {{0, 1}, {1, 3}, {1, 2}}, {}, {1, 0, 1}, {}}};
  return plan;
}

//   tree 0: n2 gets its first segment in round 0, so it sends on color 1 in round 1, on color 0 in
//   round 2. Tree 1: n1 gets one in round 1, sends on color 0 in round 2, on color 1 in round 3.
TEST(Rounds, AnEdgeIsFirstUsedAfterTheEdgeAboveItAndInItsColor) {
  const Plan plan = four_nodes();
  EXPECT_THAT(first_rounds(plan.broadcast_trees[0], 0), ElementsAre(0, 2, 1));
  EXPECT_THAT(first_rounds(plan.broadcast_trees[1], 0), ElementsAre(1, 2, 3));
}

TEST(Rounds, DoNotDependOnTheOrderInWhichEdgesAreListed) {
  PlanTree tree = four_nodes().broadcast_trees[0];
  tree.edges = {{2, 3}, {2, 1}, {0, 2}};
  tree.colors = {1, 0, 0};
  EXPECT_THAT(first_rounds(tree, 0), ElementsAre(1, 2, 0));
}

// Every rank receives a segment in the two rounds before it sends it.
TEST(Rounds, OfCombiningAreThoseOfCopyingInReverse) {
  const Plan plan = four_nodes();
  EXPECT_THAT(first_rounds(plan.broadcast_trees[0], 0, Kind::kCombine), ElementsAre(2, 0, 1));
  EXPECT_THAT(first_rounds(plan.broadcast_trees[1], 0, Kind::kCombine), ElementsAre(3, 2, 1));
  const std::vector<int> rank_of_node{3, 2, 1, 0};
  const auto of_node2 = rounds_of(plan.broadcast_trees, 0, rank_of_node, 1, Kind::kCombine);
  EXPECT_THAT(of_node2[0].receives, ElementsAre(0, 1));
  EXPECT_THAT(of_node2[0].sends, ElementsAre(2));
}

TEST(Rounds, ARankKnowsItsOwnEdges) {
  const std::vector<int> rank_of_node{3, 2, 1, 0};
  const auto of_node2 = rounds_of(four_nodes().broadcast_trees, 0, rank_of_node, 1);
  EXPECT_THAT(of_node2[0].receives, ElementsAre(0));
  EXPECT_THAT(of_node2[0].sends, ElementsAre(2, 1));
  EXPECT_THAT(of_node2[1].receives, ElementsAre(3));
  EXPECT_TRUE(of_node2[1].sends.empty());
}

TEST(RoundClock, ASegmentIsDueEveryOtherRoundFromTheFirstOn) {
  RoundClock clock({{{1}, {2, 5}}});
  std::vector<std::uint64_t> received;
  std::vector<std::uint64_t> sent;
  for (int round = 0; round < 7; ++round, clock.next()) {
    received.push_back(clock.receives_due(0, 0));
    sent.push_back(clock.sends_due(0, 0));
  }
  EXPECT_THAT(received, ElementsAre(0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(sent, ElementsAre(0, 0, 1, 1, 2, 2, 3));
  EXPECT_EQ(clock.sends_due(0, 1), 2U);  // rounds 5 and 7
  clock.reset();
  EXPECT_EQ(clock.receives_due(0, 0), 0U);
}

std::string refusal(const Plan& plan) {
  return espalier::testing::refusal([&] {
    require_rounds(plan);
    return 0;
  });
}

TEST(RoundsFault, NamesTheReason) {
  EXPECT_EQ(refusal(four_nodes()), "(not refused)");

  Plan plain = four_nodes();
  for (PlanTree& tree : plain.broadcast_trees) tree.colors.clear();
  EXPECT_EQ(refusal(plain),
            "/broadcast_trees/0: rounds need colors, which this plan's trees do not have");

  Plan clash = four_nodes();
  clash.broadcast_trees[0].colors[2] = 0;
  EXPECT_EQ(refusal(clash), "/broadcast_trees/0/colors/2: node 'n2' sends on two edges of color 0");

  Plan uneven = four_nodes();
  uneven.broadcast_trees[1].rate = {1.5};
  EXPECT_EQ(refusal(uneven),
            "/broadcast_trees/1/rate_Bps: rounds need trees of equal rates; 1.5 differs from 1");

  Plan exchange = four_nodes();
  exchange.broadcast_trees[1].exchange = {{1, 2}};
  EXPECT_EQ(refusal(exchange), "/broadcast_trees/1/exchange: rounds do not support exchange edges");
}

TEST(RoundsFault, OfAReductionIsFoundInItsTrees) {
  Plan plan = four_nodes();
  plan.operation = planner::Operation::kReduce;
  std::swap(plan.reduce_trees, plan.broadcast_trees);
  EXPECT_EQ(refusal(plan), "(not refused)");
  plan.reduce_trees[0].colors[2] = 0;
  EXPECT_EQ(refusal(plan), "/reduce_trees/0/colors/2: node 'n2' receives on two edges of color 0");
  plan.reduce_trees[1].colors.clear();
  EXPECT_EQ(refusal(plan),
            "/reduce_trees/0: rounds need colors, which this plan's trees do not have");
}

TEST(RoundsFault, ALoneNodeNeedsNoColors) {
  Plan plan = four_nodes();
  plan.nodes = {"n0"};
  plan.broadcast_trees = {{{1}, {}, {}}};
  EXPECT_EQ(refusal(plan), "(not refused)");
}

}  // namespace
}  // namespace espalier::engine::rounds_test
