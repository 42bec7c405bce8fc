// The topology-oblivious algorithms with two trees: two-tree-complete, two-tree-sanders,
// split-binary.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>
#include <vector>

#include "planner/plan/shapes/two_tree_complete.hpp"
#include "planner/registry.hpp"
#include "planner/solve/make_plan.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::two_tree_test {
namespace {

using espalier::testing::complete_platform;
using espalier::testing::instance_of;
using espalier::testing::run;
using espalier::testing::small_platform;
using espalier::testing::text_of;
using espalier::testing::total_rate;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tree_algorithms::two_tree_relatives;
using tree_algorithms::TwoTreeRelatives;

// The trees over `hosts` equal hosts, as text, the exchange edges in brackets.
std::vector<std::string> shapes(std::string_view algorithm, std::size_t hosts,
                                std::size_t source = 0) {
  const auto platform = complete_platform(hosts, 1e8);
  const Outcome outcome = run(algorithm, instance_of(platform, fmt::format("n{}", source)));
  std::vector<std::string> texts;
  for (const WeightedTree& tree : outcome.trees) {
    std::string text = text_of(tree.tree, platform);
    for (std::size_t i = 0, at = 0; i < tree.tree.edge_count(); ++i) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      if (std::ranges::count(tree.exchange, i) == 0) {
        at = end + 1;
      } else {
        text.insert(end, "]").insert(at, "[");
        at = end + 3;
      }
    }
    texts.push_back(text);
  }
  return texts;
}

Plan plan_over(std::string_view algorithm, std::uint32_t hosts, std::uint32_t source = 0) {
  const auto platform = complete_platform(hosts, 1e8);
  const Instance instance = instance_of(platform, fmt::format("n{}", source));
  return make_plan(instance, algorithm, run(algorithm, instance), Bytes{1});
}

std::vector<std::uint32_t> child_counts(const PlanTree& tree, std::size_t nodes) {
  std::vector<std::uint32_t> counts(nodes, 0);
  for (const PlanEdge edge : tree.edges) ++counts[edge.parent];
  return counts;
}

// --- two-tree-complete ---

// TTC's figure of TwoTreeC, 20 processes: heaps from 1 up and from 19 down.
TEST(TwoTreeComplete, TwentyProcessesAsInTheFigure) {
  EXPECT_THAT(
      shapes("two-tree-complete", 20),
      ElementsAre("n0>n1 n1>n2 n1>n3 n2>n4 n2>n5 n3>n6 n3>n7 n4>n8 n4>n9 n5>n10 n5>n11 n6>n12 "
                  "n6>n13 n7>n14 n7>n15 n8>n16 n8>n17 n9>n18 n9>n19",
                  "n0>n19 n19>n18 n19>n17 n18>n16 n18>n15 n17>n14 n17>n13 n16>n12 n16>n11 n15>n10 "
                  "n15>n9 n14>n8 n14>n7 n13>n6 n13>n5 n12>n4 n12>n3 n11>n2 n11>n1"));
}

TEST(TwoTreeComplete, SmallCases) {
  EXPECT_THAT(shapes("two-tree-complete", 2), ElementsAre("n0>n1", "n0>n1"));
  EXPECT_THAT(shapes("two-tree-complete", 3), ElementsAre("n0>n1 n1>n2", "n0>n2 n2>n1"));
  EXPECT_THAT(shapes("two-tree-complete", 5, 2),
              ElementsAre("n2>n3 n3>n4 n3>n0 n4>n1", "n2>n1 n1>n0 n1>n4 n0>n3"));
}

TEST(TwoTreeComplete, ASingleProcessHasNoNeighbours) {
  const auto [left, right] = two_tree_relatives(0, 1);
  EXPECT_THAT(left.children(), IsEmpty());
  EXPECT_THAT(right.children(), IsEmpty());
}

// Following the children from the source reaches every rank once, and each rank has that parent.
void expect_spanning(std::uint32_t ranks, tree_algorithms::TreeRelatives TwoTreeRelatives::*side) {
  std::vector<std::uint32_t> reached{0};
  std::set<std::uint32_t> seen{0};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto relatives = two_tree_relatives(reached[i], ranks).*side;
    ASSERT_LE(relatives.child_count, 2U);
    for (const std::uint32_t child : relatives.children()) {
      ASSERT_LT(child, ranks);
      ASSERT_TRUE(seen.insert(child).second) << child << " has two parents";
      ASSERT_EQ((two_tree_relatives(child, ranks).*side).parent, reached[i]);
      reached.push_back(child);
    }
  }
  ASSERT_EQ(reached.size(), ranks);
}

TEST(TwoTreeComplete, ParentsAndChildrenAgreeAndSpanForEveryNumberOfRanks) {
  for (std::uint32_t ranks = 2; ranks <= 600; ++ranks) {
    SCOPED_TRACE(ranks);
    expect_spanning(ranks, &TwoTreeRelatives::left);
    expect_spanning(ranks, &TwoTreeRelatives::right);
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
      const auto [left, right] = two_tree_relatives(rank, ranks);
      const bool is_middle = 2 * rank == ranks;
      EXPECT_EQ(left.child_count == 0, is_middle || right.child_count > 0) << rank;
      EXPECT_EQ(right.child_count == 0, is_middle || left.child_count > 0) << rank;
    }
  }
}

// The plan's trees equal those that each rank computes.
TEST(TwoTreeComplete, EveryRankComputesItsPlaceInThePlan) {
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
    for (std::uint32_t source = 0; source < ranks; ++source) {
      SCOPED_TRACE(fmt::format("{} ranks, source {}", ranks, source));
      const Plan plan = plan_over("two-tree-complete", ranks, source);
      ASSERT_EQ(plan.broadcast_trees.size(), 2U);
      std::size_t edges = 0;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const auto [left, right] = two_tree_relatives((rank + ranks - source) % ranks, ranks);
        for (const bool is_right : {false, true}) {
          std::vector<PlanEdge> sends;
          for (const PlanEdge edge : plan.broadcast_trees[is_right ? 1 : 0].edges) {
            if (edge.parent == rank) sends.push_back(edge);
          }
          std::vector<PlanEdge> expected;
          for (const std::uint32_t child : (is_right ? right : left).children()) {
            expected.push_back({rank, (child + source) % ranks});
          }
          EXPECT_EQ(sends, expected);
          edges += sends.size();
        }
      }
      EXPECT_EQ(edges, 2 * (ranks - 1));
    }
  }
}

// --- two-tree-sanders ---

//   4 processes: 1 2 3 in-order, then shifted by one place
//       0            0
//       2            1
//      / \          / \ .
//     1   3        3   2
//   5 = 2^2 + 1 processes: an extra level above the complete tree; the second tree mirrored
//       0            0
//       4            1
//      /              \ .
//     2                3
//    / \              / \ .      (drawn in order: 2 3 4)
//   1   3            2   4
TEST(TwoTreeSanders, SmallCases) {
  EXPECT_THAT(shapes("two-tree-sanders", 2), ElementsAre("n0>n1", "n0>n1"));
  EXPECT_THAT(shapes("two-tree-sanders", 3), ElementsAre("n0>n2 n2>n1", "n0>n1 n1>n2"));
  EXPECT_THAT(shapes("two-tree-sanders", 4), ElementsAre("n0>n2 n2>n1 n2>n3", "n0>n1 n1>n3 n1>n2"));
  EXPECT_THAT(shapes("two-tree-sanders", 5),
              ElementsAre("n0>n4 n4>n2 n2>n1 n2>n3", "n0>n1 n1>n3 n3>n4 n3>n2"));
  EXPECT_THAT(shapes("two-tree-sanders", 6),
              ElementsAre("n0>n4 n4>n2 n2>n1 n2>n3 n4>n5", "n0>n3 n3>n1 n1>n5 n1>n2 n3>n4"));
  EXPECT_THAT(shapes("two-tree-sanders", 4, 3),
              ElementsAre("n3>n1 n1>n0 n1>n2", "n3>n0 n0>n2 n0>n1"));
}

//   Colors of the case of 4: 0>2 has 0, so 0>1 has 1 (same sender) and 1>2 has 1 (same receiver);
//   from there 2>1 has 0, 1>3 has 0, and last 2>3 has 1.
TEST(TwoTreeSanders, ColorsAlternateAlongSendersAndReceivers) {
  const Plan plan = plan_over("two-tree-sanders", 4);
  EXPECT_THAT(plan.broadcast_trees[0].colors, ElementsAre(0, 0, 1));
  EXPECT_THAT(plan.broadcast_trees[1].colors, ElementsAre(1, 0, 1));
}

TEST(TwoTreeSanders, InnerNodesOfOneTreeAreLeavesOfTheOtherAndColorsAreValid) {
  for (std::uint32_t ranks = 2; ranks <= 70; ++ranks) {
    SCOPED_TRACE(ranks);
    const Plan plan = plan_over("two-tree-sanders", ranks, ranks / 3);
    ASSERT_EQ(plan.broadcast_trees.size(), 2U);
    ASSERT_NO_THROW(check_structure(plan));
    EXPECT_TRUE(is_colored(plan.broadcast_trees));
    EXPECT_NO_THROW(check_colors(plan));
    const auto first = child_counts(plan.broadcast_trees[0], ranks);
    const auto second = child_counts(plan.broadcast_trees[1], ranks);
    std::uint32_t leaves_twice = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (rank == source_index(plan)) {
        EXPECT_EQ(first[rank] + second[rank], 2U);
        continue;
      }
      EXPECT_LE(first[rank] + second[rank], 2U);
      EXPECT_TRUE(first[rank] == 0 || second[rank] == 0) << rank;
      if (first[rank] + second[rank] == 0) ++leaves_twice;
    }
    EXPECT_EQ(leaves_twice, ranks % 2 == 0 ? 1U : 0U);
    const auto levels = static_cast<std::size_t>(std::bit_width(ranks - 1));
    for (const PlanTree& tree : plan.broadcast_trees) {
      EXPECT_EQ(depth_of(tree, source_index(plan)), levels);
    }
  }
}

TEST(TwoTrees, ReachTheOptimumWhereAllLinksAreEqual) {
  for (const std::string algorithm : {"two-tree-complete", "two-tree-sanders"}) {
    for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 9U, 16U, 17U, 33U}) {
      const auto platform = complete_platform(ranks, 1e8);
      EXPECT_NEAR(total_rate(run(algorithm, instance_of(platform, "n0")).trees), 1e8, 1)
          << algorithm << ", " << ranks;
    }
  }
}

// --- split-binary ---

//   Open MPI's binary tree of 7 processes, and the pairs that exchange:
//            0
//          /   \                 1 - 2
//         1     2                3 - 4
//        / \   / \               5 - 6
//       3   5 4   6
TEST(SplitBinary, SevenProcesses) {
  EXPECT_THAT(shapes("split-binary", 7), ElementsAre("n0>n1 n1>n3 n1>n5 [n1>n2] [n3>n4] [n5>n6]",
                                                     "n0>n2 n2>n4 n2>n6 [n2>n1] [n4>n3] [n6>n5]"));
}

// An even number of processes: "the leaf without the pairwise partner receives the second half of
// the message from the root" (CM, section 4.2).
TEST(SplitBinary, TheLastOfAnEvenNumberGetsTheOtherHalfFromTheSource) {
  EXPECT_THAT(shapes("split-binary", 2), ElementsAre("n0>n1", "[n0>n1]"));
  EXPECT_THAT(shapes("split-binary", 4),
              ElementsAre("n0>n1 n1>n3 [n1>n2]", "n0>n2 [n2>n1] [n0>n3]"));
  EXPECT_THAT(shapes("split-binary", 8),
              ElementsAre("n0>n1 n1>n3 n1>n5 n3>n7 [n1>n2] [n3>n4] [n5>n6]",
                          "n0>n2 n2>n4 n2>n6 [n2>n1] [n4>n3] [n6>n5] [n0>n7]"));
  EXPECT_THAT(shapes("split-binary", 4, 3),
              ElementsAre("n3>n0 n0>n2 [n0>n1]", "n3>n1 [n1>n0] [n3>n2]"));
}

TEST(SplitBinary, EveryNodeGetsOneHalfByTheTreeAndOneByExchange) {
  for (std::uint32_t ranks = 2; ranks <= 70; ++ranks) {
    SCOPED_TRACE(ranks);
    const Plan plan = plan_over("split-binary", ranks);
    ASSERT_NO_THROW(check_structure(plan));
    const auto& left = plan.broadcast_trees[0].exchange;
    const auto& right = plan.broadcast_trees[1].exchange;
    EXPECT_EQ(left.size() + right.size(), ranks - 1);
    EXPECT_EQ(left.size(), (ranks - 1) / 2);  // subtrees of equal size, or the left has one more
    std::set<PlanEdge> back;
    for (const PlanEdge edge : right) back.insert({edge.child, edge.parent});
    for (const PlanEdge edge : left) EXPECT_EQ(back.erase(edge), 1U);
    if (ranks % 2 == 0) {
      EXPECT_THAT(back, ElementsAre(PlanEdge{ranks - 1, 0}));
    } else {
      EXPECT_THAT(back, IsEmpty());
    }
    for (const PlanTree& tree : plan.broadcast_trees) {
      EXPECT_LE(out_degree_of(tree), 3U);  // two children and the pair
    }
  }
}

// --- where links are missing ---

//    a --> b     one-way links: the source serves all, so it has two edges of one color
//    |
//    +---> c
TEST(TwoTrees, HaveNoColorsWhereTheSourceReplacesAParent) {
  const auto platform = small_platform({"a", "b", "c"}, {{"a", "b", 1}, {"a", "c", 1}});
  const Instance instance = instance_of(platform, "a");
  const Outcome outcome = run("two-tree-sanders", instance);
  ASSERT_EQ(outcome.trees.size(), 2U);
  EXPECT_EQ(text_of(outcome.trees[0].tree, platform), "a>c a>b");
  EXPECT_THAT(outcome.trees[0].colors, IsEmpty());
  EXPECT_THAT(outcome.trees[1].colors, IsEmpty());
  EXPECT_DOUBLE_EQ(outcome.trees[0].rate.value, 0.25);  // out-port of a: 4 s for a byte of each
}

TEST(SplitBinary, ExchangeEdgesRemainWhereTheSourceReplacesAParent) {
  const auto platform = small_platform({"a", "b", "c"}, {{"a", "b", 1}, {"a", "c", 1}});
  const Outcome outcome = run("split-binary", instance_of(platform, "a"));
  EXPECT_EQ(text_of(outcome.trees[0].tree, platform), "a>b a>c");
  EXPECT_THAT(outcome.trees[0].exchange, ElementsAre(1));
  EXPECT_EQ(text_of(outcome.trees[1].tree, platform), "a>c a>b");
  EXPECT_THAT(outcome.trees[1].exchange, ElementsAre(1));
}

//    a, b, c, d on a switch: every edge is a path through it, and the colors stay
TEST(TwoTrees, KeepTheirColorsOverPaths) {
  const auto platform = small_platform({"a", "b", "c", "d", "sw"}, {{"a", "sw", 1},
                                                                    {"b", "sw", 1},
                                                                    {"c", "sw", 1},
                                                                    {"d", "sw", 1},
                                                                    {"sw", "a", 1},
                                                                    {"sw", "b", 1},
                                                                    {"sw", "c", 1},
                                                                    {"sw", "d", 1}});
  const Instance instance = instance_of(platform, "a");
  const Plan plan = make_plan(instance, "two-tree-sanders", run("two-tree-sanders", instance), {1});
  EXPECT_EQ(plan.broadcast_trees[0].via.size(), 3U);
  EXPECT_TRUE(is_colored(plan.broadcast_trees));
  EXPECT_NO_THROW(check_colors(plan));
  EXPECT_DOUBLE_EQ(plan.throughput.value, 1);
}

}  // namespace
}  // namespace espalier::planner::two_tree_test
