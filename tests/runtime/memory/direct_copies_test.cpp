// Trees with shortened paths within hosts, computed without ranks.
#include "runtime/memory/direct_copies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace espalier::runtime::direct_copies_test {
namespace {

using engine::roles_of;
using engine::TreeRole;
using planner::PlanEdge;
using planner::PlanTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DirectCopies, AChainOnOneHostBecomesAStarAtItsSource) {
  const PlanTree chain{{1}, {{2, 1}, {1, 3}, {3, 0}}, {}};
  EXPECT_THAT(with_direct_copies(chain, std::vector<int>{5, 5, 5, 5}).edges,
              ElementsAre(PlanEdge{2, 1}, PlanEdge{2, 3}, PlanEdge{2, 0}));
}

// Hosts A: 0 1 2, B: 3 4 5. The path 0 - 1 - 3 - 4 - 2 returns to A: 2 remains a child of 4.
TEST(DirectCopies, EdgesBetweenHostsAreUnchanged) {
  const PlanTree tree{{1}, {{0, 1}, {1, 3}, {3, 4}, {4, 5}, {4, 2}}, {}};
  EXPECT_THAT(
      with_direct_copies(tree, std::vector<int>{0, 0, 0, 1, 1, 1}).edges,
      ElementsAre(PlanEdge{1, 3}, PlanEdge{4, 2}, PlanEdge{0, 1}, PlanEdge{3, 4}, PlanEdge{3, 5}));
}

TEST(DirectCopies, HostsOfOneRankKeepTheTree) {
  const PlanTree tree{{2}, {{0, 2}, {2, 1}, {0, 3}}, {}};
  EXPECT_EQ(with_direct_copies(tree, std::vector<int>{0, 1, 2, 3}).edges, tree.edges);
}

// On random trees and hosts: the edges between hosts are the same, in the same order; every other
// node is a child of a node of its own host that receives from another host or is the source.
TEST(DirectCopies, AreOneStepFromTheFirstNodeOfTheHost) {
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

MATCHER_P3(Ring, writer, readers, trees, "") {
  return arg.writer == writer &&
         ::testing::ExplainMatchResult(readers, arg.readers, result_listener) &&
         ::testing::ExplainMatchResult(trees, arg.trees, result_listener);
}

bool writes_ring(const TreeRole& role) {
  return !role.out.empty() && role.out[0].uses_ring();
}
bool reads_ring(const TreeRole& role) {
  return !role.in.empty() && role.in[0].uses_ring();
}
// To which it sends by MPI.
std::vector<int> peers(const TreeRole& role) {
  std::vector<int> ranks;
  for (const engine::Edge& edge : role.out) {
    if (!edge.uses_ring()) ranks.push_back(edge.peer);
  }
  return ranks;
}

// Hosts A: 0 1 2, B: 3 4 5. The first tree enters B at 3; the second enters it at 4, and 3 receives
// from the source. 0 serves 1 and 2 in both.
TEST(Rings, AreForTreesWhoseChildrenAreTheReaders) {
  const std::vector<int> nodes{0, 1, 2, 3, 4, 5};
  const std::vector<int> hosts{0, 0, 0, 3, 3, 3};
  const std::vector<PlanTree> trees{{{1}, {{0, 3}, {0, 2}, {0, 1}, {3, 4}, {3, 5}}, {}},
                                    {{1}, {{0, 3}, {0, 4}, {0, 1}, {0, 2}, {4, 5}}, {}}};
  const auto rings = rings_for_copies(trees, nodes, hosts);
  ASSERT_EQ(rings.size(), 3U);
  EXPECT_THAT(rings[0], Ring(0, ElementsAre(1, 2), ElementsAre(0, 1)));
  EXPECT_THAT(rings[1], Ring(3, ElementsAre(4, 5), ElementsAre(0)));
  EXPECT_THAT(rings[2], Ring(4, ElementsAre(5), ElementsAre(1)));
  const auto roles = [&](int rank) {
    auto found = roles_of(trees, nodes, rank, hosts);
    use_rings(found, rank, rings);
    return found;
  };
  for (const TreeRole& role : roles(0)) EXPECT_TRUE(writes_ring(role) && role.in.empty());
  EXPECT_THAT(peers(roles(0)[0]), ElementsAre(3));
  EXPECT_THAT(peers(roles(0)[1]), ElementsAre(3, 4));
  for (const TreeRole& role : roles(2)) EXPECT_TRUE(reads_ring(role) && role.in[0].peer == 0);
  EXPECT_TRUE(writes_ring(roles(3)[0]) && peers(roles(3)[0]).empty());
  EXPECT_FALSE(writes_ring(roles(3)[1]) || reads_ring(roles(3)[1]));
  EXPECT_TRUE(reads_ring(roles(5)[0]) && reads_ring(roles(5)[1]));
}

// 0 has more children in the first tree than in the second, where they receive by MPI.
TEST(Rings, AreReadByAllOrNotUsed) {
  const std::vector<int> nodes{0, 1, 2};
  const std::vector<int> hosts{0, 0, 0};
  const std::vector<PlanTree> trees{{{1}, {{0, 1}, {0, 2}}, {}}, {{1}, {{0, 1}, {1, 2}}, {}}};
  const auto rings = rings_for_copies(trees, nodes, hosts);
  auto source = roles_of(trees, nodes, 0, hosts);
  use_rings(source, 0, rings);
  EXPECT_TRUE(writes_ring(source[0]));
  EXPECT_FALSE(writes_ring(source[1]));
  EXPECT_THAT(peers(source[1]), ElementsAre(1));
  auto last = roles_of(trees, nodes, 2, hosts);
  use_rings(last, 2, rings);
  EXPECT_TRUE(reads_ring(last[0]) && reads_ring(last[1]));
}

TEST(Rings, AreNotForTreesWithExchangeEdges) {
  const std::vector<int> nodes{0, 1};
  std::vector<PlanTree> trees(1);
  trees[0].edges = trees[0].exchange = {{0, 1}};
  EXPECT_THAT(rings_for_copies(trees, nodes, std::vector<int>{0, 0}), IsEmpty());
}

}  // namespace
}  // namespace espalier::runtime::direct_copies_test
