// Trees to some of the hosts: against all trees of small graphs, and the flow LP.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "lp/solver/linear_program.hpp"
#include "lp/steiner/cheapest_member_tree.hpp"
#include "tests/lp/plain_flow_lp.hpp"
#include "tests/lp/random_problems.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::member_trees_test {
namespace {

using espalier::testing::draws;
using testing::kAllModels;
using testing::ModelKind;
using testing::ProblemShape;
using testing::random_problem;
using testing::RandomProblem;

// Members among the hosts: some, or all that the seed draws, but at least one and not the root.
std::vector<char> members_of(const RandomProblem& made, std::uint64_t seed, std::size_t most) {
  std::mt19937_64 random(seed);
  std::vector<char> is_member(made.graph.node_count, 0);
  std::size_t members = 0;
  while (members == 0) {
    for (std::uint32_t node = 0; node < made.graph.node_count; ++node) {
      if (node == made.root || made.graph.relay(node) || is_member[node] != 0) continue;
      if (members < most && random() % 2 == 0) {
        is_member[node] = 1;
        ++members;
      }
    }
  }
  return is_member;
}

PackingProblem with_members(const RandomProblem& made, const std::vector<char>& is_member) {
  PackingProblem problem = made.problem();
  problem.is_member = is_member;
  return problem;
}

// Every tree from the root to all members in a graph without relays, as sets of arcs: each other
// node has one arc into it, or none if it is a helper without children.
class AllTrees {
 public:
  AllTrees(const RandomProblem& made, const std::vector<char>& is_member)
      : graph_(made.graph),
        root_(made.root),
        is_member_(is_member),
        into_(graph_.node_count, kNone) {
    extend(0);
  }
  [[nodiscard]] const std::vector<RoutedTree>& trees() const { return trees_; }

 private:
  void extend(std::uint32_t node) {
    if (node == graph_.node_count) return take();
    if (node == root_) return extend(node + 1);
    if (is_member_[node] == 0) extend(node + 1);
    for (std::uint32_t arc = 0; arc < graph_.arc_count(); ++arc) {
      if (graph_.head[arc] != node) continue;
      into_[node] = arc;
      extend(node + 1);
    }
    into_[node] = kNone;
  }
  void take() {
    RoutedTree tree;
    for (std::uint32_t node = 0; node < graph_.node_count; ++node) {
      if (into_[node] == kNone) continue;
      std::uint32_t at = node;
      for (std::uint32_t steps = 0; at != root_; ++steps) {
        if (into_[at] == kNone || steps > graph_.node_count) return;
        at = graph_.tail[into_[at]];
      }
      tree.arcs.push_back(into_[node]);
    }
    trees_.push_back(std::move(tree));
  }

  const Digraph& graph_;
  std::uint32_t root_;
  const std::vector<char>& is_member_;
  std::vector<std::uint32_t> into_;
  std::vector<RoutedTree> trees_;
};

// The packing LP over the trees, all at once. unit: bytes per second, near the result.
double optimum_over(const std::vector<RoutedTree>& trees, const SparseMatrix& occupation,
                    double unit) {
  LinearProgram program(Sense::kMaximise);
  std::vector<std::vector<Entry>> rows(static_cast<std::size_t>(occupation.rows()));
  for (const RoutedTree& tree : trees) {
    const std::uint32_t column = program.add_column({0, kInfinity}, 1.0);
    const std::vector<double> load = tree_load(occupation, tree);
    for (std::size_t r = 0; r < load.size(); ++r) {
      if (load[r] > 0) rows[r].push_back({column, load[r] * unit});
    }
  }
  for (const std::vector<Entry>& row : rows) {
    if (!row.empty()) program.add_row({-kInfinity, 1}, row);
  }
  EXPECT_EQ(program.solve({}), LpStatus::kOptimal);
  return program.objective() * unit;
}

// Each edge's sender is the root or has the data, each node receives once, all members do.
void expect_tree(const RoutedTree& tree, const PackingProblem& problem) {
  std::vector<int> received(problem.graph.node_count, 0);
  std::vector<std::uint32_t> parent(problem.graph.node_count, kNone);
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto path = tree.path(edge);
    for (std::size_t hop = 1; hop < path.size(); ++hop) {
      ASSERT_EQ(problem.graph.head[path[hop - 1]], problem.graph.tail[path[hop]]);
      ASSERT_TRUE(problem.graph.relay(problem.graph.tail[path[hop]]));
    }
    const std::uint32_t child = problem.graph.head[path.back()];
    ++received[child];
    parent[child] = problem.graph.tail[path.front()];
  }
  for (std::uint32_t node = 0; node < problem.graph.node_count; ++node) {
    ASSERT_LE(received[node], node == problem.root ? 0 : 1);
    if (problem.is_member[node] != 0) {
      ASSERT_EQ(received[node], 1);
    }
    if (received[node] == 0) continue;
    std::uint32_t at = node;
    for (std::uint32_t steps = 0; at != problem.root; ++steps) {
      ASSERT_LE(steps, problem.graph.node_count);
      ASSERT_NE(parent[at], kNone);
      at = parent[at];
    }
  }
}

class MemberTrees : public ::testing::TestWithParam<ModelKind> {};

TEST_P(MemberTrees, PackingIsTheOptimumOverAllTrees) {
  for (std::uint64_t seed = 1; seed <= draws(12); ++seed) {
    const RandomProblem made = random_problem(
        {.hosts = 4 + static_cast<std::uint32_t>(seed % 2), .extra_links = 5}, GetParam(), seed);
    SCOPED_TRACE(made.name);
    const std::vector<char> is_member = members_of(made, seed, 3);
    const PackingProblem problem = with_members(made, is_member);
    const Packing packing = pack_arborescences(problem);
    const AllTrees all(made, is_member);
    const double optimum = optimum_over(all.trees(), made.occupation, packing.rate);
    EXPECT_NEAR(packing.rate, optimum, 1e-5 * optimum);
    EXPECT_NEAR(packing.bound, optimum, 1e-5 * optimum);
  }
}

TEST_P(MemberTrees, AreFeasibleAndProvenWithinTheBoundOfFlows) {
  for (std::uint64_t seed = 1; seed <= draws(16); ++seed) {
    const ProblemShape shape{.hosts = 5 + static_cast<std::uint32_t>(seed % 4),
                             .relays = static_cast<std::uint32_t>(seed % 3),
                             .extra_links = 10,
                             .shared_links = seed % 2 == 0 ? 2U : 0U,
                             .decades = 1.5};
    const RandomProblem made = random_problem(shape, GetParam(), seed);
    SCOPED_TRACE(made.name);
    const std::vector<char> is_member = members_of(made, seed, 5);
    const PackingProblem problem = with_members(made, is_member);
    const Packing packing = pack_arborescences(problem);
    std::vector<double> load(static_cast<std::size_t>(made.occupation.rows()), 0.0);
    for (const PackedTree& packed : packing.trees) {
      expect_tree(packed.tree, problem);
      const std::vector<double> own = tree_load(made.occupation, packed.tree);
      for (std::size_t r = 0; r < load.size(); ++r) load[r] += packed.rate * own[r];
    }
    EXPECT_LE(*std::ranges::max_element(load), 1 + 1e-9);
    EXPECT_LE(packing.rate, packing.bound * (1 + 1e-9));
    EXPECT_LE(packing.bound, packing.rate * (1 + 1e-5));  // pricing is exact at this size
    const FlowSolution flow = solve_flow_lp(problem);
    ASSERT_EQ(flow.status, LpStatus::kOptimal);
    EXPECT_LE(packing.rate, flow.throughput * (1 + 1e-6));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, MemberTrees, ::testing::ValuesIn(kAllModels),
                         [](const auto& one) { return "m" + std::to_string(one.index); });

// Costs as column generation makes them: many are 0, others decades apart.
std::vector<double> drawn_costs(std::size_t arcs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> cost(arcs);
  for (double& one : cost) {
    one = random() % 3 == 0 ? 0 : std::pow(10.0, -static_cast<double>(random() % 400) / 100);
  }
  return cost;
}

double cost_of(const RoutedTree& tree, std::span<const double> cost) {
  double sum = 0;
  for (const std::uint32_t arc : tree.arcs) sum += cost[arc];
  return sum;
}

TEST(CheapestMemberTree, IsTheCheapestOfAll) {
  for (std::uint64_t seed = 1; seed <= draws(40); ++seed) {
    const RandomProblem made =
        random_problem({.hosts = 4 + static_cast<std::uint32_t>(seed % 3), .extra_links = 6},
                       ModelKind::kOnePort, seed);
    SCOPED_TRACE(made.name);
    const std::vector<char> is_member = members_of(made, seed, 4);
    const std::vector<double> cost = drawn_costs(made.graph.arc_count(), seed);
    double least = std::numeric_limits<double>::infinity();
    const AllTrees all(made, is_member);
    for (const RoutedTree& tree : all.trees()) least = std::min(least, cost_of(tree, cost));
    const auto priced = CheapestMemberTree(made.graph, made.root, is_member).solve(cost);
    ASSERT_TRUE(priced);
    EXPECT_NEAR(priced->cost, least, 1e-9 * least);
    EXPECT_NEAR(priced->cost, cost_of(priced->tree, cost), 1e-9 * least);
    EXPECT_LE(priced->at_least.value(), least * (1 + 1e-9));
    EXPECT_GE(priced->at_least.value(), least * (1 - 1e-9));
  }
}

// The two exact methods, and the bound of dual ascent beneath them.
TEST(CheapestMemberTree, MethodsAgree) {
  for (std::uint64_t seed = 1; seed <= draws(40); ++seed) {
    const RandomProblem made =
        random_problem({.hosts = 12, .extra_links = 30}, ModelKind::kOnePort, seed);
    SCOPED_TRACE(made.name);
    const std::vector<char> is_member = members_of(made, seed, 6);
    const HostNetwork network = HostNetwork::of(made.graph.node_count, made.graph.tail,
                                                made.graph.head, made.root, is_member);
    ASSERT_TRUE(network.is_connected);
    const std::vector<double> all_costs = drawn_costs(made.graph.arc_count(), seed);
    std::vector<double> cost;
    for (const std::uint32_t arc : network.given) cost.push_back(all_costs[arc]);
    HelperChoice choice(network);
    choice.set_costs(cost);
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t chosen = 0; chosen < 1U << network.helpers.size(); ++chosen) {
      std::vector<char> helps(network.nodes, 0);
      for (std::size_t i = 0; i < network.helpers.size(); ++i) {
        helps[network.helpers[i]] = static_cast<char>(chosen >> i & 1U);
      }
      if (const auto tree = choice.tree_with(helps)) least = std::min(least, tree->cost);
    }
    EXPECT_NEAR(TerminalSets(network).solve(cost).cost, least, 1e-9 * least);
    EXPECT_LE(DualAscent(network).solve(cost), least * (1 + 1e-9));
    EXPECT_GE(DualAscent(network).solve(cost), 0.3 * least);
  }
}

TEST(CheapestMemberTree, NothingWhereAMemberCannotBeReached) {
  const Digraph graph{.node_count = 3, .tail = {0, 2}, .head = {1, 1}, .is_relay = {}};
  const std::vector<char> is_member{0, 1, 1};
  EXPECT_FALSE(CheapestMemberTree(graph, 0, is_member).solve(std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace espalier::lp::member_trees_test
