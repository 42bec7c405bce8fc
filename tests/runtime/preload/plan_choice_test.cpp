#include "runtime/preload/plan_choice.hpp"

#include <gmock/gmock.h>

#include <array>
#include <random>

#include "tests/support/plans.hpp"

namespace espalier::preload::plan_choice_test {
namespace {

using runtime::RankMapping;

// b sends to c, c to a; in the second tree 'a' finally receives its share from b.
planner::Plan three_nodes() {
  planner::Plan plan;
  plan.platform = "test";
  plan.model = "one-port";
  plan.algorithm = "by hand";
  plan.source = "b";
  plan.nodes = {"a", "b", "c"};
  plan.throughput = {3};
  plan.broadcast_trees = {{{2}, {{1, 2}, {2, 0}}, {}, {}, {}},
                          {{1}, {{1, 2}, {1, 0}}, {}, {}, {{1, 0}}}};
  return plan;
}

Members members(std::size_t world, std::vector<int> world_ranks, int root,
                std::vector<std::string> hosts = {}) {
  return {world, std::move(world_ranks), std::move(hosts), root, planner::Operation::kBroadcast};
}

TEST(PlanChoice, RankOrderKeepsTheTreesAmongTheSameNodes) {
  const planner::Plan plan = three_nodes();
  const planner::Plan ordered = in_rank_order(plan, std::array{2, 0, 1});
  EXPECT_NO_THROW(planner::check_structure(ordered));
  EXPECT_THAT(ordered.nodes, ::testing::ElementsAre("b", "c", "a"));
  for (std::size_t tree = 0; tree < 2; ++tree) {
    const auto& before = plan.broadcast_trees[tree].edges;
    const auto& after = ordered.broadcast_trees[tree].edges;
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(ordered.nodes[after[i].parent], plan.nodes[before[i].parent]);
      EXPECT_EQ(ordered.nodes[after[i].child], plan.nodes[before[i].child]);
    }
  }
  EXPECT_THAT(ordered.broadcast_trees[1].exchange, ::testing::ElementsAre(planner::PlanEdge{0, 2}));
}

TEST(PlanChoice, RankOrderMovesTheRootsOfBlocks) {
  std::mt19937_64 random(1);
  const planner::Plan plan =
      espalier::testing::parts_plan(planner::Operation::kAllreduce, 3, 1024, 2, random);
  const planner::Plan ordered = in_rank_order(plan, std::array{2, 0, 1});
  EXPECT_NO_THROW(planner::check_structure(ordered));
  ASSERT_EQ(ordered.blocks.size(), plan.blocks.size());
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    EXPECT_EQ(ordered.nodes[ordered.blocks[i].root], plan.nodes[plan.blocks[i].root]);
    const planner::PlanEdge before = plan.blocks[i].trees[0].edges[0];
    const planner::PlanEdge after = ordered.blocks[i].trees[0].edges[0];
    EXPECT_EQ(ordered.nodes[after.parent], plan.nodes[before.parent]);
    EXPECT_EQ(ordered.nodes[after.child], plan.nodes[before.child]);
  }
}

TEST(PlanChoice, RankOrderMovesBothEndsOfRoutes) {
  std::mt19937_64 random(1);
  const planner::Plan plan = espalier::testing::routes_plan(
      planner::Operation::kScatter, 3, 1, espalier::testing::Paths::kThroughAnother, 1024, random);
  EXPECT_NO_THROW(planner::check_structure(in_rank_order(plan, std::array{2, 0, 1})));
}

// c's part has no share, so the plan serves only calls in which it has none.
TEST(PlanChoice, APlanServesPartsForWhichItHasShares) {
  std::mt19937_64 random(1);
  planner::Plan plan =
      espalier::testing::parts_plan(planner::Operation::kAllgather, 3, 1024, 2, random);
  Members calling = members(3, {0, 1, 2}, 0);
  calling.operation = planner::Operation::kAllgather;
  EXPECT_TRUE(fitted(plan, calling, RankMapping::kByOrder));
  const std::uint32_t left_out = plan.blocks.back().root;
  plan.blocks.pop_back();
  EXPECT_FALSE(fitted(plan, calling, RankMapping::kByOrder));
  calling.shares = {0.5, 0.5, 0.5};
  calling.shares[left_out] = 0;
  EXPECT_TRUE(fitted(plan, calling, RankMapping::kByOrder));
}

TEST(PlanChoice, APlanForTheWorldFollowsWorldRanks) {
  const auto plan = three_nodes();
  const auto backwards = fitted(plan, members(3, {2, 1, 0}, 1), RankMapping::kByOrder);
  ASSERT_TRUE(backwards);
  EXPECT_THAT(backwards->nodes, ::testing::ElementsAre("c", "b", "a"));
  const auto reversed = fitted(plan, members(3, {1, 2, 0}, 0), RankMapping::kByOrder);
  ASSERT_TRUE(reversed);
  EXPECT_THAT(reversed->nodes, ::testing::ElementsAre("b", "c", "a"));
  EXPECT_FALSE(fitted(plan, members(3, {1, 2, 0}, 1), RankMapping::kByOrder));
}

TEST(PlanChoice, ASmallerPlanFollowsTheCommunicatorsRanks) {
  const auto fit = fitted(three_nodes(), members(8, {6, 4, 2}, 1), RankMapping::kByOrder);
  ASSERT_TRUE(fit);
  EXPECT_THAT(fit->nodes, ::testing::ElementsAre("a", "b", "c"));
  EXPECT_FALSE(fitted(three_nodes(), members(8, {6, 4, 2}, 0), RankMapping::kByOrder));
  EXPECT_FALSE(fitted(three_nodes(), members(8, {6, 4, 2, 1}, 1), RankMapping::kByOrder));
}

TEST(PlanChoice, APlanServesOnlyItsOperation) {
  planner::Plan up = three_nodes();
  up.operation = planner::Operation::kReduce;
  std::swap(up.reduce_trees, up.broadcast_trees);
  Members reversed = members(3, {1, 2, 0}, 0);
  EXPECT_FALSE(fitted(up, reversed, RankMapping::kByOrder));
  reversed.operation = planner::Operation::kReduce;
  EXPECT_FALSE(fitted(three_nodes(), reversed, RankMapping::kByOrder));
  const auto fit = fitted(up, reversed, RankMapping::kByOrder);
  ASSERT_TRUE(fit);
  EXPECT_NO_THROW(planner::check_structure(*fit));
  EXPECT_THAT(fit->nodes, ::testing::ElementsAre("b", "c", "a"));
  EXPECT_THAT(fit->reduce_trees[0].edges,
              ::testing::ElementsAre(planner::PlanEdge{0, 1}, planner::PlanEdge{1, 2}));
  reversed.root = 1;
  EXPECT_FALSE(fitted(up, reversed, RankMapping::kByOrder));
}

TEST(PlanChoice, AnAllreduceMayHaveAnyRoot) {
  planner::Plan both = three_nodes();
  both.operation = planner::Operation::kAllreduce;
  both.reduce_trees = both.broadcast_trees;
  Members all = members(3, {0, 1, 2}, 0);
  all.operation = planner::Operation::kAllreduce;
  EXPECT_TRUE(fitted(both, all, RankMapping::kByOrder));  // whose source is rank 1
}

TEST(PlanChoice, ByHostNamesDecide) {
  const auto fit = fitted(three_nodes(), members(8, {6, 4, 2}, 2, {"c.lyon", "a.lyon", "b.lyon"}),
                          RankMapping::kByHostName);
  ASSERT_TRUE(fit);
  EXPECT_THAT(fit->nodes, ::testing::ElementsAre("c", "a", "b"));
  EXPECT_FALSE(
      fitted(three_nodes(), members(8, {6, 4, 2}, 2, {"c", "a", "x"}), RankMapping::kByHostName));
  EXPECT_FALSE(
      fitted(three_nodes(), members(8, {6, 4, 2}, 2, {"c", "b", "b"}), RankMapping::kByHostName));
}

}  // namespace
}  // namespace espalier::preload::plan_choice_test
