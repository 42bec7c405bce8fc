#include "lp/problem/parts_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "lp/packing/cheapest_tree.hpp"
#include "lp/packing/tree_pricer.hpp"
#include "support/errors.hpp"
#include "tests/lp/plain_certificate.hpp"
#include "tests/lp/plain_flow_lp.hpp"
#include "tests/lp/random_problems.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::parts_problem_test {
namespace {

using espalier::testing::draws;
using testing::kAllModels;
using testing::ModelKind;
using testing::ProblemShape;
using testing::random_problem;
using testing::RandomProblem;

// Both halves of an allreduce.
PartsProblem doubled_of(const RandomProblem& made) {
  return {made.graph, made.occupation, {{made.root}, {made.root, true}}};
}

class Doubled : public ::testing::TestWithParam<ModelKind> {
 protected:
  static RandomProblem draw(std::uint64_t seed) {
    const ProblemShape shape{.hosts = 3 + static_cast<std::uint32_t>(seed % 5),
                             .relays = static_cast<std::uint32_t>(seed % 3),
                             .extra_links = 6,
                             .shared_links = seed % 2 == 0 ? 2U : 0U};
    return random_problem(shape, GetParam(), seed);
  }
};

TEST_P(Doubled, SplitsIntoReduceAndBroadcastTreesAndJoinsThemAgain) {
  for (std::uint64_t seed = 1; seed <= draws(20); ++seed) {
    const RandomProblem made = draw(seed);
    SCOPED_TRACE(made.name);
    const PartsProblem doubled = doubled_of(made);
    for (const PackedTree& packed : pack_arborescences(doubled.problem()).trees) {
      const std::vector<RoutedTree> halves = doubled.split(packed.tree);
      const RoutedTree& down = halves[0];
      const RoutedTree& up = halves[1];
      ASSERT_EQ(up.edge_count(), made.graph.host_count() - 1);
      ASSERT_EQ(down.edge_count(), made.graph.host_count() - 1);
      std::vector<int> sends(made.graph.node_count);
      std::vector<int> receives(made.graph.node_count);
      for (std::size_t edge = 0; edge < up.edge_count(); ++edge) {
        for (const RoutedTree* half : {&up, &down}) {
          const auto path = half->path(edge);
          for (std::size_t hop = 1; hop < path.size(); ++hop) {
            EXPECT_EQ(made.graph.head[path[hop - 1]], made.graph.tail[path[hop]]);
          }
        }
        ++sends[made.graph.tail[up.path(edge).front()]];
        ++receives[made.graph.head[down.path(edge).back()]];
      }
      for (std::uint32_t node = 0; node < made.graph.node_count; ++node) {
        const int once = node != made.root && !made.graph.relay(node) ? 1 : 0;
        EXPECT_EQ(sends[node], once);
        EXPECT_EQ(receives[node], once);
      }
      const RoutedTree again = doubled.join(halves);
      EXPECT_EQ(doubled.split(again), halves);
      const std::vector<double> load = tree_load(doubled.problem().occupation, packed.tree);
      const std::vector<double> of_up = tree_load(made.occupation, up);
      const std::vector<double> of_down = tree_load(made.occupation, down);
      for (std::size_t r = 0; r < load.size(); ++r) {
        EXPECT_NEAR(load[r], of_up[r] + of_down[r], 1e-12 * load[r]);
      }
    }
  }
}

// The papers' flow LP on the doubled graph is independent of arborescences.
TEST_P(Doubled, PackingIsProvenAndAgreesWithTheFlowLp) {
  for (std::uint64_t seed = 1; seed <= draws(20); ++seed) {
    const RandomProblem made = draw(seed);
    SCOPED_TRACE(made.name);
    const PartsProblem doubled = doubled_of(made);
    const Packing packing = pack_arborescences(doubled.problem());
    EXPECT_EQ(packing_fault(doubled.problem(), packing), "");
    EXPECT_LE(packing.bound, packing.rate * (1 + 1e-6));
    const FlowSolution flow = solve_flow_lp(doubled.problem());
    ASSERT_EQ(flow.status, LpStatus::kOptimal);
    EXPECT_NEAR(packing.rate / flow.throughput, 1, 1e-6);
  }
}

// All trees of a part with each host as root, from one run, cost what those of the copies do; also
// where some hosts are not roots, and where not all hosts reach each other.
TEST_P(Doubled, TreesOfAllRootsAreTheCheapestOfTheCopies) {
  for (std::uint64_t seed = 1; seed <= draws(20); ++seed) {
    const RandomProblem made = draw(seed);
    SCOPED_TRACE(made.name);
    std::vector<Part> parts;
    for (std::uint32_t node = 0; node < made.graph.node_count; ++node) {
      if (made.graph.relay(node) || (seed % 2 == 0 && node != made.root && node % 3 == 0)) continue;
      parts.push_back({node, seed % 4 < 2, 0.1 * (1 + node)});
    }
    if (seed % 5 == 0) parts.assign(3, {made.root, false, 0.5});
    if (parts.size() < 3) continue;
    const PartsProblem all(made.graph, made.occupation, parts);
    const PackingProblem problem = all.problem();
    ASSERT_EQ(problem.part_roots.size(), parts.size());
    std::vector<double> prices(static_cast<std::size_t>(made.occupation.rows()));
    for (std::size_t r = 0; r < prices.size(); ++r) {
      prices[r] = static_cast<double>((r * 2654435761U + seed * 40503U) % 1000) / 1000;
    }
    std::vector<double> cost(problem.graph.arc_count(), 0.0);
    for (std::size_t arc = 0; arc < cost.size(); ++arc) {
      for (SparseMatrix::InnerIterator it(problem.occupation, static_cast<Eigen::Index>(arc)); it;
           ++it) {
        cost[arc] += it.value() * prices[static_cast<std::size_t>(it.row())];
      }
    }
    const std::optional<PricedTree> copies = CheapestTree(problem.graph, problem.root).solve(cost);
    if (!copies) continue;  // some root does not reach all
    const PricedTree priced = TreePricer(problem).cheapest_tree(prices);
    EXPECT_NEAR(priced.cost, copies->cost, 1e-9 * copies->cost);
    double paid = 0;
    for (const std::uint32_t arc : priced.tree.arcs) paid += cost[arc];
    EXPECT_NEAR(paid, copies->cost, 1e-9 * copies->cost);
    for (const RoutedTree& tree : all.split(priced.tree)) {
      EXPECT_EQ(tree.edge_count(), made.graph.host_count() - 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Doubled, ::testing::ValuesIn(kAllModels));

// Before it takes any memory.
TEST(PartsProblem, RefusesMoreEntriesThanCanBeCounted) {
  constexpr std::uint32_t kArcs = 60'000;
  Digraph graph{2, std::vector<std::uint32_t>(kArcs, 0), std::vector<std::uint32_t>(kArcs, 1), {}};
  SparseMatrix occupation(1, kArcs);
  for (int arc = 0; arc < static_cast<int>(kArcs); ++arc) occupation.insert(0, arc) = 1;
  EXPECT_THAT(
      [&] { const PartsProblem parts(graph, occupation, std::vector<Part>(kArcs, Part{0})); },
      ::testing::ThrowsMessage<InputError>(
          ::testing::HasSubstr("the network is too large for this operation: 60000 links, and a "
                               "part for each of 60000")));
}

}  // namespace
}  // namespace espalier::lp::parts_problem_test
