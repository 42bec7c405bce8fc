// Trees of links that carry data both ways.
#include "lp/problem/both_ways.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "lp/graph/tree_routes.hpp"

namespace espalier::lp::both_ways_test {
namespace {

// Hosts 0 to 5 in a line, but for a relay, node 6, between 2 and 3. Arcs 2 i lead up, 2 i + 1 back.
class Line : public ::testing::Test {
 protected:
  Line() {
    graph_.node_count = 7;
    graph_.is_relay = {0, 0, 0, 0, 0, 0, 1};
    std::vector<Eigen::Triplet<double>> entries;
    for (const auto& [one, other] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
             {0, 1}, {1, 2}, {2, 6}, {6, 3}, {3, 4}, {4, 5}}) {
      for (const auto& [tail, head] : {std::pair(one, other), std::pair(other, one)}) {
        const auto arc = static_cast<int>(graph_.tail.size());
        graph_.tail.push_back(tail);
        graph_.head.push_back(head);
        graph_.latency_s.push_back(1e-3);
        entries.emplace_back(arc, arc, 1e-9);
      }
    }
    occupation_.resize(12, 12);
    occupation_.setFromTriplets(entries.begin(), entries.end());
    tree_.add_edge(std::vector<std::uint32_t>{0});
    tree_.add_edge(std::vector<std::uint32_t>{2});
    tree_.add_edge(std::vector<std::uint32_t>{4, 6});
    tree_.add_edge(std::vector<std::uint32_t>{8});
    tree_.add_edge(std::vector<std::uint32_t>{10});
  }
  [[nodiscard]] BothWays both_ways() const {
    return BothWays::of({graph_, 0, occupation_}).value();
  }

  Digraph graph_;
  SparseMatrix occupation_;
  RoutedTree tree_;
};

TEST_F(Line, ATreeFromItsMiddleIsHalfAsDeep) {
  const BothWays both = both_ways();
  EXPECT_EQ(depth_of(graph_, 0, tree_), 5U);
  const std::uint32_t middle = both.middle_of(tree_);
  EXPECT_EQ(middle,
            3U);  // two edges and 2 ms to one end, three and 4 ms, by the relay, to the other
  const RoutedTree moved = both.from(tree_, middle);
  EXPECT_EQ(depth_of(graph_, middle, moved), 3U);
  EXPECT_DOUBLE_EQ(latency_of(graph_, middle, moved).value, 4e-3);
}

TEST_F(Line, AnotherRootLoadsTheSame) {
  const BothWays both = both_ways();
  const SparseMatrix occupation = both.problem().occupation;
  for (const std::uint32_t root : {0U, 1U, 2U, 3U, 4U, 5U}) {
    const RoutedTree moved = both.from(tree_, root);
    ASSERT_EQ(moved.edge_count(), tree_.edge_count());
    EXPECT_EQ(tree_load(occupation, moved), tree_load(occupation, tree_));
    EXPECT_EQ(both.from(moved, 0), tree_);
    EXPECT_EQ(both.back(both.back(moved)), moved);
  }
}

TEST_F(Line, ALinksCounterpartIsTheLinkBack) {
  const std::vector<std::uint32_t> counterparts = both_ways().counterparts();
  ASSERT_EQ(counterparts.size(), 12U);
  for (std::uint32_t row = 0; row < 12; ++row) EXPECT_EQ(counterparts[row], row ^ 1U);
}

TEST_F(Line, IsNotTheSameBothWaysWithAnotherRateOrLatencyBack) {
  occupation_.coeffRef(3, 3) = 2e-9;
  EXPECT_TRUE(both_ways().counterparts().empty());
  occupation_.coeffRef(3, 3) = 1e-9;
  EXPECT_FALSE(both_ways().counterparts().empty());
  graph_.latency_s[3] = 2e-3;
  EXPECT_TRUE(both_ways().counterparts().empty());
}

}  // namespace
}  // namespace espalier::lp::both_ways_test
