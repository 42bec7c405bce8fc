#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "planner/registry.hpp"
#include "planner/solve/make_plan.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::oblivious_test {
namespace {

using espalier::testing::complete_platform;
using espalier::testing::instance_of;
using espalier::testing::period;
using espalier::testing::run;
using espalier::testing::small_platform;
using espalier::testing::text_of;
using espalier::testing::tree_text;

std::string shape(std::string_view algorithm, std::size_t hosts, std::size_t source = 0) {
  const auto platform = complete_platform(hosts, 1e8);
  return tree_text(algorithm, instance_of(platform, fmt::format("n{}", source)));
}

//   binomial, 8 ranks      0               a rank sends to the largest subtree first
//                        / | \ .
//                       4  2  1
//                      /|  |
//                     6 5  3
//                     |
//                     7
TEST(Binomial, HasTheShapeOfMpiLibraries) {
  EXPECT_EQ(shape("binomial", 2), "n0>n1");
  EXPECT_EQ(shape("binomial", 3), "n0>n2 n0>n1");
  EXPECT_EQ(shape("binomial", 4), "n0>n2 n0>n1 n2>n3");
  EXPECT_EQ(shape("binomial", 6), "n0>n4 n0>n2 n0>n1 n2>n3 n4>n5");
  EXPECT_EQ(shape("binomial", 8), "n0>n4 n0>n2 n0>n1 n2>n3 n4>n6 n4>n5 n6>n7");
  EXPECT_EQ(shape("binomial", 9), "n0>n8 n0>n4 n0>n2 n0>n1 n2>n3 n4>n6 n4>n5 n6>n7");
}

TEST(Binary, IsCompleteInRankOrder) {
  EXPECT_EQ(shape("binary", 2), "n0>n1");
  EXPECT_EQ(shape("binary", 3), "n0>n1 n0>n2");
  EXPECT_EQ(shape("binary", 6), "n0>n1 n0>n2 n1>n3 n1>n4 n2>n5");
  EXPECT_EQ(shape("binary", 7), "n0>n1 n0>n2 n1>n3 n1>n4 n2>n5 n2>n6");
}

TEST(Chain, FollowsTheRanks) {
  EXPECT_EQ(shape("chain", 2), "n0>n1");
  EXPECT_EQ(shape("chain", 4), "n0>n1 n1>n2 n2>n3");
}

TEST(Flat, SendsToAllInRankOrder) {
  EXPECT_EQ(shape("flat", 2), "n0>n1");
  EXPECT_EQ(shape("flat", 4), "n0>n1 n0>n2 n0>n3");
}

//   k-chain, 10 ranks, k = 4       0            lengths differ by at most one, longer ones first
//                              / / \ \ .
//                             1 4   6 8
//                             2 5   7 9
//                             3
TEST(KChain, IsOfContiguousChainsOfEvenLength) {
  EXPECT_EQ(shape("k-chain", 10), "n0>n1 n1>n2 n2>n3 n0>n4 n4>n5 n0>n6 n6>n7 n0>n8 n8>n9");
  EXPECT_EQ(shape("k-chain", 4), "n0>n1 n0>n2 n0>n3");
  EXPECT_EQ(shape("k-chain", 2), "n0>n1");
}

TEST(KChain, HasTheRequestedNumberOfChains) {
  const auto platform = complete_platform(8, 1e8);
  const Instance instance = instance_of(platform, "n0");
  AlgorithmOptions options;
  const auto text = [&](std::size_t chains) {
    options.chains = chains;
    return text_of(run("k-chain", instance, options).trees.at(0).tree, platform);
  };
  EXPECT_EQ(text(1), tree_text("chain", instance));
  EXPECT_EQ(text(2), "n0>n1 n1>n2 n2>n3 n3>n4 n0>n5 n5>n6 n6>n7");
  EXPECT_EQ(text(3), "n0>n1 n1>n2 n2>n3 n0>n4 n4>n5 n0>n6 n6>n7");
  EXPECT_EQ(text(7), tree_text("flat", instance));
  EXPECT_EQ(text(1000), tree_text("flat", instance));
}

// In step k a rank' that has the data sends it 2^k further.
TEST(Bruck, DistancesDouble) {
  EXPECT_EQ(shape("bruck", 2), "n0>n1");
  EXPECT_EQ(shape("bruck", 6), "n0>n1 n0>n2 n1>n3 n0>n4 n1>n5");
  EXPECT_EQ(shape("bruck", 6, 4), "n4>n5 n4>n0 n5>n1 n4>n2 n5>n3");
}

// Partners differ in one bit of their ranks, and not of ranks relative to the source.
TEST(RecursiveDoubling, PartnersDifferInOneBit) {
  EXPECT_EQ(shape("recursive-doubling", 4), "n0>n1 n0>n2 n1>n3");
  EXPECT_EQ(shape("recursive-doubling", 8, 5), "n5>n4 n5>n7 n4>n6 n5>n1 n4>n0 n7>n3 n6>n2");
}

// Of 6 ranks, 0 1 and 2 3 are pairs; 1, 3, 4 and 5 take part as 0, 1, 2 and 3.
TEST(RecursiveDoubling, RanksBeyondAPowerOfTwoAreServedByTheirPartners) {
  EXPECT_EQ(shape("recursive-doubling", 6, 4), "n4>n5 n4>n1 n5>n3 n1>n0 n3>n2");
  EXPECT_EQ(shape("recursive-doubling", 6, 2), "n2>n3 n3>n1 n3>n5 n1>n4 n1>n0");
  EXPECT_EQ(shape("recursive-doubling", 3), "n0>n1 n1>n2");
}

// Round the ring in both directions, first to the partner.
TEST(NeighborExchange, GoesBothWays) {
  EXPECT_EQ(shape("neighbor-exchange", 2), "n0>n1");
  EXPECT_EQ(shape("neighbor-exchange", 6), "n0>n1 n0>n5 n1>n2 n5>n4 n2>n3");
  EXPECT_EQ(shape("neighbor-exchange", 6, 3), "n3>n2 n3>n4 n2>n1 n4>n5 n1>n0");
  EXPECT_EQ(shape("neighbor-exchange", 5), "n0>n1 n0>n4 n1>n2 n4>n3");
}

TEST(Oblivious, RanksAreRelativeToTheSource) {
  EXPECT_EQ(shape("chain", 4, 2), "n2>n3 n3>n0 n0>n1");
  EXPECT_EQ(shape("flat", 4, 3), "n3>n0 n3>n1 n3>n2");
  EXPECT_EQ(shape("binary", 6, 4), "n4>n5 n4>n0 n5>n1 n5>n2 n0>n3");
  EXPECT_EQ(shape("k-chain", 6, 4), "n4>n5 n5>n0 n4>n1 n4>n2 n4>n3");
  EXPECT_EQ(shape("binomial", 6, 1), "n1>n5 n1>n3 n1>n2 n3>n4 n5>n0");
}

// The tree from another source is that from n0 with all ranks shifted.
TEST(Oblivious, EverySourceGivesTheSameShape) {
  for (const std::string algorithm : {"binomial", "binary", "bruck", "chain", "flat", "k-chain",
                                      "split-binary", "two-tree-complete", "two-tree-sanders"}) {
    for (std::size_t hosts = 2; hosts <= 11; ++hosts) {
      const auto platform = complete_platform(hosts, 1e8);
      const auto first = make_plan(instance_of(platform, "n0"), algorithm,
                                   run(algorithm, instance_of(platform, "n0")), Bytes{1});
      for (std::uint32_t source = 1; source < hosts; ++source) {
        SCOPED_TRACE(fmt::format("{}, {} hosts, source {}", algorithm, hosts, source));
        const Instance instance = instance_of(platform, fmt::format("n{}", source));
        const Plan plan = make_plan(instance, algorithm, run(algorithm, instance), Bytes{1});
        ASSERT_EQ(plan.broadcast_trees.size(), first.broadcast_trees.size());
        for (std::size_t tree = 0; tree < plan.broadcast_trees.size(); ++tree) {
          std::vector<PlanEdge> moved = first.broadcast_trees[tree].edges;
          for (PlanEdge& edge : moved) {
            edge.parent = static_cast<std::uint32_t>((edge.parent + source) % hosts);
            edge.child = static_cast<std::uint32_t>((edge.child + source) % hosts);
          }
          EXPECT_EQ(plan.broadcast_trees[tree].edges, moved);
          EXPECT_EQ(plan.broadcast_trees[tree].colors, first.broadcast_trees[tree].colors);
        }
      }
    }
  }
}

//    a --1--> b --2--> c        no link a>c: the flat tree's second hop goes through b. Out-port
//      \               ^        of a: 1 + 1; in-port of b: 1 + 1; out-port of b: 2.
//       3 --> d ---4---+        (Through d it would take 7.)
TEST(Oblivious, HopsWithoutALinkTakeTheFastestPathAndLoadIt) {
  const auto platform = small_platform(
      {"a", "b", "c", "d"}, {{"a", "b", 1}, {"b", "c", 2}, {"a", "d", 3}, {"d", "c", 4}});
  const Instance instance = instance_of(platform, "a");
  EXPECT_EQ(tree_text("flat", instance), "a>b a>b>c a>d");
  const Outcome flat = run("flat", instance);
  EXPECT_DOUBLE_EQ(period(flat), 5);  // out-port of a: 1 + 1 + 3
  const Plan plan = make_plan(instance, "flat", flat, Bytes{1});
  const std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::string>> via{
      {{0, 2}, {"b"}}};
  EXPECT_EQ(plan.broadcast_trees[0].via, via);
}

//    a ==1== sw ==1== b        slow link a>b (9): a link is used where there is one, however slow
//      \______9_______^
TEST(Oblivious, TakesALinkWhereThereIsOneHoweverSlow) {
  const auto platform =
      small_platform({"a", "b", "sw"}, {{"a", "sw", 1}, {"sw", "b", 1}, {"a", "b", 9}});
  EXPECT_EQ(tree_text("chain", instance_of(platform, "a")), "a>b");
}

//    a --> sw --> b     c is on the switch, too: every hop goes through it
//           |     |
//           +> c  +--> sw
TEST(Oblivious, GoesThroughRelays) {
  const auto platform = small_platform(
      {"a", "b", "c", "sw"}, {{"a", "sw", 1}, {"b", "sw", 2}, {"sw", "b", 1}, {"sw", "c", 1}});
  const Instance instance = instance_of(platform, "a");
  EXPECT_EQ(tree_text("chain", instance), "a>sw>b b>sw>c");
  EXPECT_EQ(tree_text("flat", instance), "a>sw>b a>sw>c");
}

//        a                 One-way links: neither leaf can send, so the source serves the
//     1 / \ 2              children that they have in the shape.
//      v   v
//      b   c
TEST(Oblivious, WhereASenderHasNoPathItsParentServesTheChild) {
  const auto platform = small_platform({"a", "b", "c"}, {{"a", "b", 1}, {"a", "c", 2}});
  const Instance instance = instance_of(platform, "a");
  EXPECT_EQ(tree_text("chain", instance), "a>b a>c");
  EXPECT_EQ(tree_text("binomial", instance), "a>c a>b");
}

//    a --> b --> d         chain a b c d: b has no path to c, so a serves c; c has none to d, nor
//    |                     has a, except through b.
//    +---> c
TEST(Oblivious, ReplacementParentsAreTriedUpwardsStepByStep) {
  const auto platform =
      small_platform({"a", "b", "c", "d"}, {{"a", "b", 1}, {"a", "c", 1}, {"b", "d", 1}});
  const Instance instance = instance_of(platform, "a");
  EXPECT_EQ(tree_text("chain", instance), "a>b a>c a>b>d");
  EXPECT_EQ(tree_text("binary", instance), "a>b a>c b>d");
}

}  // namespace
}  // namespace espalier::planner::oblivious_test
