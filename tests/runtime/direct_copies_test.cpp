// Trees with the ways within a host cut short, worked out without any ranks.
#include "runtime/direct_copies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace espalier::runtime {
namespace {

using planner::PlanEdge;
using planner::PlanTree;
using ::testing::ElementsAre;

TEST(DirectCopies, AChainOnOneHostBecomesAStarAtItsSource) {
  const PlanTree chain{{1}, {{2, 1}, {1, 3}, {3, 0}}, {}};
  EXPECT_THAT(with_direct_copies(chain, std::vector<int>{5, 5, 5, 5}).edges,
              ElementsAre(PlanEdge{2, 1}, PlanEdge{2, 3}, PlanEdge{2, 0}));
}

// Hosts A: 0 1 2, B: 3 4 5. The way 0 - 1 - 3 - 4 - 2 comes back to A: 2 stays below 4.
TEST(DirectCopies, WhatComesFromAnotherHostStillDoesByTheSameEdge) {
  const PlanTree tree{{1}, {{0, 1}, {1, 3}, {3, 4}, {4, 5}, {4, 2}}, {}};
  EXPECT_THAT(
      with_direct_copies(tree, std::vector<int>{0, 0, 0, 1, 1, 1}).edges,
      ElementsAre(PlanEdge{1, 3}, PlanEdge{4, 2}, PlanEdge{0, 1}, PlanEdge{3, 4}, PlanEdge{3, 5}));
}

TEST(DirectCopies, HostsOfOneRankKeepTheTree) {
  const PlanTree tree{{2}, {{0, 2}, {2, 1}, {0, 3}}, {}};
  EXPECT_EQ(with_direct_copies(tree, std::vector<int>{0, 1, 2, 3}).edges, tree.edges);
}

// On random trees and hosts: the edges between hosts are the same, in the same order; everybody
// else is a child of somebody of its own host who gets from another host, or is the source.
TEST(DirectCopies, AreOneStepFromTheHostsFirst) {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 300; ++turn) {
    const auto nodes = static_cast<std::uint32_t>(1 + random() % 20);
    std::vector<int> hosts;
    PlanTree tree{{1}, {}, {}};
    for (std::uint32_t i = 0; i < nodes; ++i) {
      hosts.push_back(static_cast<int>(random() % 4));
      if (i > 0) tree.edges.push_back({static_cast<std::uint32_t>(random() % i), i});
    }
    const PlanTree direct = with_direct_copies(tree, hosts);
    std::vector<PlanEdge> between;
    std::vector<PlanEdge> still_between;
    for (const PlanEdge& edge : tree.edges) {
      if (hosts[edge.parent] != hosts[edge.child]) between.push_back(edge);
    }
    std::vector<bool> is_first(nodes, false);
    is_first[0] = true;
    for (const PlanEdge& edge : direct.edges) {
      if (hosts[edge.parent] == hosts[edge.child]) continue;
      still_between.push_back(edge);
      is_first[edge.child] = true;
    }
    EXPECT_EQ(still_between, between);
    ASSERT_EQ(direct.edges.size(), tree.edges.size());
    for (const PlanEdge& edge : direct.edges) {
      EXPECT_TRUE(hosts[edge.parent] != hosts[edge.child] || is_first[edge.parent]);
    }
  }
}

}  // namespace
}  // namespace espalier::runtime
