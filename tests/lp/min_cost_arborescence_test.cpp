#include "lp/graph/min_cost_arborescence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>

#include "tests/lp/plain_certificate.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::min_cost_arborescence_test {
namespace {

using espalier::testing::draws;

struct Graph {
  std::uint32_t nodes;
  std::vector<std::uint32_t> tail;
  std::vector<std::uint32_t> head;
  std::vector<double> cost;
};

void expect_spanning(const Graph& graph, std::span<const std::uint32_t> arcs, std::uint32_t root) {
  ASSERT_EQ(arcs.size() + 1, graph.nodes);
  std::vector<std::uint32_t> parent(graph.nodes, UINT32_MAX);
  for (const std::uint32_t arc : arcs) {
    EXPECT_EQ(parent[graph.head[arc]], UINT32_MAX);
    parent[graph.head[arc]] = graph.tail[arc];
  }
  for (std::uint32_t node = 0; node < graph.nodes; ++node) {
    std::uint32_t above = node;
    for (std::uint32_t steps = 0; above != root && steps < graph.nodes; ++steps) {
      above = parent[above];
      ASSERT_NE(above, UINT32_MAX) << "node " << node << " is not connected to the root";
    }
    EXPECT_EQ(above, root);
  }
}

// costs: number of different costs; few make many ties and zero-price cycles.
Graph random_graph(std::uint64_t seed, std::uint32_t nodes, std::uint32_t arcs, int costs) {
  std::mt19937_64 random(seed);
  Graph graph{nodes, {}, {}, {}};
  for (std::uint32_t i = 0; i < arcs; ++i) {
    graph.tail.push_back(static_cast<std::uint32_t>(random() % nodes));
    graph.head.push_back(static_cast<std::uint32_t>(random() % nodes));
    const auto draw = static_cast<int>(random() % static_cast<unsigned>(costs));
    graph.cost.push_back(costs > 1000 ? draw * 0.37 : draw);
  }
  return graph;
}

TEST(MinCostArborescence, EqualsThePlainAlgorithmOnRandomGraphs) {
  for (std::uint64_t seed = 1; seed <= draws(3000); ++seed) {
    SCOPED_TRACE(seed);
    const auto nodes = static_cast<std::uint32_t>(1 + seed % 12);
    const auto arcs = static_cast<std::uint32_t>(seed % 7 * nodes);
    const Graph graph = random_graph(seed, nodes, arcs, seed % 2 == 0 ? 4 : 100000);
    MinCostArborescence solver(nodes, graph.tail, graph.head, 0);
    const auto chosen = solver.solve(graph.cost);
    const auto plain = plain_min_arborescence_cost(nodes, graph.tail, graph.head, graph.cost, 0);
    if (!plain) {
      EXPECT_TRUE(chosen.empty());
      continue;
    }
    expect_spanning(graph, chosen, 0);
    EXPECT_NEAR(solver.total_cost(), *plain, 1e-9 * (1 + *plain));
  }
}

// From each node at once, where node 0 is the root with dear arcs to all others.
TEST(MinCostArborescence, CostsFromEachNodeAreThoseOfItsOwnTree) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= draws(600); ++seed) {
    SCOPED_TRACE(seed);
    const auto nodes = static_cast<std::uint32_t>(1 + seed % 9);
    const Graph graph = random_graph(seed, nodes, static_cast<std::uint32_t>(seed % 7 * nodes),
                                     seed % 2 == 0 ? 4 : 100000);
    Graph rooted{nodes + 1, {}, {}, graph.cost};
    for (std::size_t arc = 0; arc < graph.tail.size(); ++arc) {
      rooted.tail.push_back(graph.tail[arc] + 1);
      rooted.head.push_back(graph.head[arc] + 1);
    }
    for (std::uint32_t node = 0; node < nodes; ++node) {
      rooted.tail.push_back(0);
      rooted.head.push_back(node + 1);
      rooted.cost.push_back(1e300);
    }
    std::vector<std::optional<double>> plain;
    for (std::uint32_t root = 0; root < nodes; ++root) {
      plain.push_back(plain_min_arborescence_cost(nodes, graph.tail, graph.head, graph.cost, root));
    }
    const bool all_reach_all =
        std::ranges::all_of(plain, [](const auto& cost) { return cost.has_value(); });
    MinCostArborescence solver(nodes + 1, rooted.tail, rooted.head, 0);
    for (std::uint32_t root = 0; root < nodes; ++root) {
      std::vector<double> from_each;
      ASSERT_TRUE(solver.solve_from_each(rooted.cost, from_each));
      if (!all_reach_all) {
        EXPECT_EQ(from_each[root + 1], std::numeric_limits<double>::infinity());
        continue;
      }
      ++compared;
      EXPECT_NEAR(from_each[root + 1], *plain[root], 1e-9 * (1 + *plain[root]));
      const auto root_arc = static_cast<std::uint32_t>(graph.tail.size()) + root;
      const auto chosen = solver.tree_from(root_arc);
      expect_spanning(rooted, chosen, 0);
      double cost = 0;
      for (const std::uint32_t arc : chosen) cost += arc == root_arc ? 0 : rooted.cost[arc];
      EXPECT_NEAR(cost, *plain[root], 1e-9 * (1 + *plain[root]));
    }
  }
  EXPECT_GT(compared, 200U);
}

TEST(MinCostArborescence, EqualsThePlainAlgorithmOnLargerGraphs) {
  for (std::uint64_t seed = 1; seed <= draws(40); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed, 150, 1500, seed % 2 == 0 ? 3 : 1 << 20);
    const auto root = static_cast<std::uint32_t>(seed % 150);
    MinCostArborescence solver(150, graph.tail, graph.head, root);
    const auto chosen = solver.solve(graph.cost);
    const auto plain = plain_min_arborescence_cost(150, graph.tail, graph.head, graph.cost, root);
    ASSERT_EQ(chosen.empty(), !plain.has_value());
    if (!plain) continue;
    expect_spanning(graph, chosen, root);
    EXPECT_NEAR(solver.total_cost(), *plain, 1e-9 * *plain);
  }
}

// Cycles inside cycles: node i is cheapest to reach from i + 1, and the root reaches only the last.
TEST(MinCostArborescence, NestedCyclesUnfold) {
  constexpr std::uint32_t kNodes = 2000;
  Graph graph{kNodes, {}, {}, {}};
  const auto add = [&](std::uint32_t from, std::uint32_t to, double cost) {
    graph.tail.push_back(from);
    graph.head.push_back(to);
    graph.cost.push_back(cost);
  };
  for (std::uint32_t node = 1; node + 1 < kNodes; ++node) {
    add(node, node + 1, node);
    add(node + 1, node, 0);
  }
  add(0, 1, 1e6);
  MinCostArborescence solver(kNodes, graph.tail, graph.head, 0);
  expect_spanning(graph, solver.solve(graph.cost), 0);
  EXPECT_DOUBLE_EQ(solver.total_cost(), 1e6 + (kNodes - 2.0) * (kNodes - 1.0) / 2);
}

TEST(MinCostArborescence, SolvesAgainAndAgainFromTheSameArrays) {
  const Graph graph = random_graph(9, 60, 900, 1 << 20);
  MinCostArborescence solver(60, graph.tail, graph.head, 0);
  std::vector<double> cost = graph.cost;
  for (int round = 0; round < 50; ++round) {
    const auto chosen = solver.solve(cost);
    expect_spanning(graph, chosen, 0);
    const auto plain = plain_min_arborescence_cost(60, graph.tail, graph.head, cost, 0);
    EXPECT_NEAR(solver.total_cost(), *plain, 1e-9 * *plain);
    for (const std::uint32_t arc : chosen) cost[arc] *= 1.5;
  }
}

TEST(MinCostArborescence, RootAlone) {
  MinCostArborescence solver(1, {}, {}, 0);
  EXPECT_TRUE(solver.solve({}).empty());
  EXPECT_EQ(solver.total_cost(), 0);
}

}  // namespace
}  // namespace espalier::lp::min_cost_arborescence_test
