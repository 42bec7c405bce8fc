#include "lp/graph/relay_arborescence.hpp"

#include <gtest/gtest.h>

#include <random>

#include "lp/graph/host_graph.hpp"
#include "lp/graph/min_cost_arborescence.hpp"
#include "tests/lp/random_problems.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::relay_arborescence_test {
namespace {

using espalier::testing::draws;
using testing::ModelKind;
using testing::ProblemShape;
using testing::random_problem;

// A tree over the hosts, whose edges are paths through relays, and which costs `total` in all.
void expect_tree(const Digraph& graph, std::uint32_t root, const RoutedTree& tree,
                 std::span<const double> cost, double total) {
  ASSERT_EQ(tree.edge_count() + 1, graph.host_count());
  std::vector<std::uint32_t> parent(graph.node_count, kNone);
  double sum = 0;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const std::span<const std::uint32_t> path = tree.path(edge);
    for (std::size_t i = 0; i < path.size(); ++i) {
      sum += cost[path[i]];
      EXPECT_EQ(graph.relay(graph.tail[path[i]]), i > 0);
      EXPECT_EQ(graph.relay(graph.head[path[i]]), i + 1 < path.size());
      if (i > 0) {
        EXPECT_EQ(graph.head[path[i - 1]], graph.tail[path[i]]);
      }
    }
    EXPECT_EQ(parent[graph.head[path.back()]], kNone);
    parent[graph.head[path.back()]] = graph.tail[path.front()];
  }
  EXPECT_NEAR(sum, total, 1e-9 * (1 + total));
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    if (graph.relay(node)) continue;
    std::uint32_t above = node;
    for (std::uint32_t steps = 0; above != root && steps < graph.node_count; ++steps) {
      above = parent[above];
      ASSERT_NE(above, kNone) << "node " << node;
    }
    EXPECT_EQ(above, root);
  }
}

// The cost of the cheapest arborescence over all pairs of hosts; unset: some host is not reached.
std::optional<double> cost_over_all_pairs(const Digraph& graph, std::uint32_t root,
                                          std::span<const double> cost) {
  HostGraph pairs(graph);
  // Relays are nodes there, which nothing enters: one more arc from the root to each.
  std::vector<std::uint32_t> tail(pairs.tail().begin(), pairs.tail().end());
  std::vector<std::uint32_t> head(pairs.head().begin(), pairs.head().end());
  const std::span<const double> pair_cost = pairs.reprice(cost);
  std::vector<double> all(pair_cost.begin(), pair_cost.end());
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    if (!graph.relay(node)) continue;
    tail.push_back(root);
    head.push_back(node);
    all.push_back(0);
  }
  MinCostArborescence with_relays(graph.node_count, tail, head, root);
  if (with_relays.solve(all).size() + 1 != graph.node_count) return std::nullopt;
  return with_relays.total_cost();
}

// values: how many different costs, zero among them, so that there are many ties.
std::vector<double> random_costs(std::size_t arcs, unsigned values, std::mt19937_64& random) {
  std::vector<double> cost(arcs);
  for (double& value : cost) {
    value = static_cast<double>(random() % values) * (values > 1000 ? 0.37 : 1);
  }
  return cost;
}

TEST(RelayArborescence, EqualsTheCheapestOverAllPairsOfHosts) {
  for (std::uint64_t seed = 1; seed <= draws(1500); ++seed) {
    SCOPED_TRACE(seed);
    ProblemShape shape;
    shape.hosts = static_cast<std::uint32_t>(2 + seed % 23);
    shape.relays = static_cast<std::uint32_t>(1 + seed % 17);
    shape.extra_links = static_cast<std::uint32_t>(seed % 40);
    const auto made = random_problem(shape, ModelKind::kOnePort, seed);
    std::mt19937_64 random(seed);
    RelayArborescence solver(made.graph, made.root);
    for (const unsigned values : {2U, 4U, 100'000U}) {  // the same solver again and again
      const std::vector<double> cost = random_costs(made.graph.arc_count(), values, random);
      const auto expected = cost_over_all_pairs(made.graph, made.root, cost);
      const std::optional<RoutedTree> tree = solver.solve(cost);
      ASSERT_EQ(tree.has_value(), expected.has_value());
      if (!tree) continue;
      EXPECT_NEAR(solver.total_cost(), *expected, 1e-9 * (1 + *expected));
      expect_tree(made.graph, made.root, *tree, cost, *expected);
    }
  }
}

// From each host at once: a new root with dear arcs to all hosts.
TEST(RelayArborescence, CostsFromEachHostAreThoseOfItsOwnTree) {
  for (std::uint64_t seed = 1; seed <= draws(200); ++seed) {
    SCOPED_TRACE(seed);
    ProblemShape shape;
    shape.hosts = static_cast<std::uint32_t>(2 + seed % 9);
    shape.relays = static_cast<std::uint32_t>(1 + seed % 7);
    shape.extra_links = static_cast<std::uint32_t>(seed % 40);
    const auto made = random_problem(shape, ModelKind::kOnePort, seed);
    std::mt19937_64 random(seed);
    Digraph rooted = made.graph;
    const std::uint32_t top = rooted.node_count++;
    rooted.is_relay.push_back(0);
    std::vector<double> cost = random_costs(rooted.arc_count(), 100'000, random);
    for (std::size_t arc = 0; arc < made.graph.arc_count(); ++arc) {  // all reach all
      rooted.tail.push_back(made.graph.head[arc]);
      rooted.head.push_back(made.graph.tail[arc]);
      cost.push_back(cost[arc] + 1);
    }
    Digraph own = rooted;
    own.is_relay[top] = 1;  // without arcs
    const std::vector<double> own_cost = cost;
    for (std::uint32_t node = 0; node < top; ++node) {
      if (rooted.relay(node)) continue;
      rooted.tail.push_back(top);
      rooted.head.push_back(node);
      cost.push_back(1e300);
    }
    RelayArborescence solver(rooted, top);
    for (auto root_arc = static_cast<std::uint32_t>(own.arc_count()); root_arc < cost.size();
         ++root_arc) {
      std::vector<double> from_each;
      ASSERT_TRUE(solver.solve_from_each(cost, from_each));
      const std::uint32_t root = rooted.head[root_arc];
      RelayArborescence alone(own, root);
      ASSERT_TRUE(alone.solve(own_cost));
      const double expected = alone.total_cost();
      EXPECT_NEAR(from_each[root], expected, 1e-9 * (1 + expected));
      std::vector<double> with_root = cost;
      with_root[root_arc] = 0;
      expect_tree(rooted, top, solver.tree_from(root_arc), with_root, expected);
    }
  }
}

// Hosts in groups on a line of relays: whole groups are contracted, and search on together.
TEST(RelayArborescence, EqualsTheCheapestOverAllPairsInALineOfGroups) {
  for (std::uint64_t seed = 1; seed <= draws(300); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto relays = static_cast<std::uint32_t>(3 + seed % 10);
    const auto hosts = static_cast<std::uint32_t>(2 * relays);
    Digraph graph;
    graph.node_count = hosts + relays;
    graph.is_relay.assign(graph.node_count, 0);
    std::vector<double> cost;
    const auto link = [&](std::uint32_t a, std::uint32_t b, unsigned most) {
      for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        graph.tail.push_back(from);
        graph.head.push_back(to);
        cost.push_back(static_cast<double>(random() % most));
      }
    };
    for (std::uint32_t relay = 0; relay < relays; ++relay) {
      graph.is_relay[hosts + relay] = 1;
      link(2 * relay, hosts + relay, 3);
      link(2 * relay + 1, hosts + relay, 3);
      if (relay > 0) link(hosts + relay - 1, hosts + relay, 50);
    }
    const auto root = static_cast<std::uint32_t>(random() % hosts);
    RelayArborescence solver(graph, root);
    const std::optional<RoutedTree> tree = solver.solve(cost);
    const auto expected = cost_over_all_pairs(graph, root, cost);
    ASSERT_TRUE(tree && expected);
    EXPECT_DOUBLE_EQ(solver.total_cost(), *expected);
    expect_tree(graph, root, *tree, cost, *expected);
  }
}

}  // namespace
}  // namespace espalier::lp::relay_arborescence_test
