#include "lp/packing/arborescence_packing.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "tests/lp/plain_certificate.hpp"
#include "tests/lp/plain_flow_lp.hpp"
#include "tests/lp/random_problems.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::arborescence_packing_test {
namespace {

using namespace espalier::testing;
using namespace lp::testing;

// The packing is valid, proven, and agrees with the papers' flow LP.
void expect_flow_optimum(const RandomProblem& made) {
  SCOPED_TRACE(made.name);
  const Packing packing = pack_arborescences(made.problem());
  EXPECT_EQ(packing.end, PackingEnd::kGapReached);
  EXPECT_EQ(packing_fault(made.problem(), packing), "");
  EXPECT_LE(packing.bound, packing.rate * (1 + 1e-6));
  const FlowSolution flow = solve_flow_lp(made.problem());
  ASSERT_EQ(flow.status, LpStatus::kOptimal);
  EXPECT_NEAR(packing.rate / flow.throughput, 1, 1e-6);
}

class PackingAgainstFlow : public ::testing::TestWithParam<ModelKind> {};

TEST_P(PackingAgainstFlow, AgreeOn200RandomPlatforms) {
  for (std::uint64_t seed = 1; seed <= draws(200); ++seed) {
    // 4 to 25 nodes, most of them small: the flow LP's time grows with hosts x arcs.
    const std::uint32_t hosts = seed % 20 == 0 ? 25 : 4 + static_cast<std::uint32_t>(seed % 10);
    expect_flow_optimum(random_problem({.hosts = hosts, .extra_links = hosts}, GetParam(), seed));
  }
}

TEST_P(PackingAgainstFlow, AgreeWithRelays) {
  for (std::uint64_t seed = 1; seed <= draws(60); ++seed) {
    const ProblemShape shape{.hosts = 3 + static_cast<std::uint32_t>(seed % 4),
                             .relays = 1 + static_cast<std::uint32_t>(seed % 3),
                             .extra_links = 6};
    expect_flow_optimum(random_problem(shape, GetParam(), seed));
  }
}

TEST_P(PackingAgainstFlow, AgreeWithSharedLinks) {
  for (std::uint64_t seed = 1; seed <= draws(60); ++seed) {
    const ProblemShape shape{
        .hosts = 6, .relays = seed % 2 == 0 ? 2U : 0U, .extra_links = 6, .shared_links = 2};
    expect_flow_optimum(random_problem(shape, GetParam(), seed));
  }
}

TEST_P(PackingAgainstFlow, AgreeOnEqualArcs) {
  for (std::uint64_t seed = 1; seed <= draws(40); ++seed) {
    expect_flow_optimum(
        random_problem({.hosts = 7, .extra_links = 12, .equal = true}, GetParam(), seed));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PackingAgainstFlow, ::testing::ValuesIn(kAllModels));

class HardPacking : public ::testing::TestWithParam<ModelKind> {};

// Beyond GLPK's tolerances, so checked by the certificate instead of the flow LP.
TEST_P(HardPacking, BandwidthsOverNineOrdersOfMagnitude) {
  for (std::uint64_t seed = 1; seed <= draws(60); ++seed) {
    const RandomProblem made = random_problem(
        {.hosts = 12, .relays = seed % 3 == 0 ? 3U : 0U, .extra_links = 20, .decades = 9},
        GetParam(), seed);
    SCOPED_TRACE(made.name);
    const Packing packing = pack_arborescences(made.problem());
    EXPECT_EQ(packing_fault(made.problem(), packing), "");
    EXPECT_EQ(packing.end, PackingEnd::kGapReached);
    EXPECT_LE(packing.bound, packing.rate * (1 + 1e-6));
  }
}

// Links that are too slow for GLPK's tolerances next to the others.
TEST_P(HardPacking, TwoKindsOfLinksManyDecadesApart) {
  for (const double decades : {6, 7, 8, 9, 10, 12, 15}) {
    for (std::uint64_t seed = 1; seed <= draws(40); ++seed) {
      const RandomProblem made = random_problem({.hosts = 3 + static_cast<std::uint32_t>(seed % 6),
                                                 .relays = seed % 2 == 0 ? 1U : 0U,
                                                 .extra_links = 12,
                                                 .decades = decades,
                                                 .two_kinds = true},
                                                GetParam(), seed);
      SCOPED_TRACE(made.name + ", decades " + std::to_string(decades));
      const Packing packing = pack_arborescences(made.problem());
      EXPECT_EQ(packing_fault(made.problem(), packing), "");
      EXPECT_EQ(packing.end, PackingEnd::kGapReached);
    }
  }
}

TEST_P(HardPacking, ManyEqualArcs) {
  const RandomProblem made =
      random_problem({.hosts = 40, .extra_links = 4000, .equal = true}, GetParam(), 1);
  const Packing packing = pack_arborescences(made.problem());
  EXPECT_EQ(packing_fault(made.problem(), packing), "");
  EXPECT_LE(packing.bound, packing.rate * (1 + 1e-6));
}

TEST_P(HardPacking, SameInputSameResult) {
  const RandomProblem made = random_problem({.hosts = 20, .extra_links = 40}, GetParam(), 5);
  const Packing first = pack_arborescences(made.problem());
  const Packing second = pack_arborescences(made.problem());
  ASSERT_EQ(first.trees.size(), second.trees.size());
  for (std::size_t i = 0; i < first.trees.size(); ++i) {
    EXPECT_EQ(first.trees[i].tree, second.trees[i].tree);
    EXPECT_EQ(first.trees[i].rate, second.trees[i].rate);
  }
  EXPECT_EQ(first.prices, second.prices);
}

// A basic solution has no more trees than saturated resources.
TEST_P(HardPacking, NoMoreTreesThanSaturatedResources) {
  for (std::uint64_t seed = 1; seed <= draws(30); ++seed) {
    const RandomProblem made = random_problem({.hosts = 15, .extra_links = 40}, GetParam(), seed);
    SCOPED_TRACE(made.name);
    const Packing packing = pack_arborescences(made.problem());
    std::vector<double> load(static_cast<std::size_t>(made.occupation.rows()), 0.0);
    for (const PackedTree& packed : packing.trees) {
      const std::vector<double> more = tree_load(made.occupation, packed.tree);
      for (std::size_t r = 0; r < load.size(); ++r) load[r] += packed.rate * more[r];
    }
    const auto full =
        std::count_if(load.begin(), load.end(), [](double l) { return l > 1 - 1e-6; });
    EXPECT_LE(packing.trees.size(), static_cast<std::size_t>(full) + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, HardPacking, ::testing::ValuesIn(kAllModels));

//    0 --1--> 1 <==> 2     the source has one arc; 1 and 2 also send to each other
TEST(Packing, SourceWithOneArc) {
  const Digraph graph{3, {0, 1, 2}, {1, 2, 1}, {}};
  SparseMatrix occupation(2, 3);
  occupation.insert(0, 0) = 1.0;
  occupation.insert(1, 1) = 1e-9;
  occupation.insert(1, 2) = 1e-9;
  occupation.makeCompressed();
  const Packing packing = pack_arborescences({graph, 0, occupation});
  EXPECT_EQ(packing.trees.size(), 1U);
  EXPECT_DOUBLE_EQ(packing.rate, 1.0);
  EXPECT_NEAR(packing.bound, 1.0, 1e-6);
}

//    0 --> r --> r --> r --> 1      and 1 --> 2 over the last relay back
TEST(Packing, RelaysInAChain) {
  //                    nodes: hosts 0 1 2, relays 3 4 5
  const Digraph graph{6, {0, 3, 4, 5, 5, 1}, {3, 4, 5, 1, 2, 5}, {0, 0, 0, 1, 1, 1}};
  SparseMatrix occupation(6, 6);
  for (int arc = 0; arc < 6; ++arc) occupation.insert(arc, arc) = 1.0;
  occupation.makeCompressed();
  // Either 0 sends twice along the chain (rate 1/2), or 1 forwards through 5 (rate 1): the relay
  // cannot copy.
  const Packing packing = pack_arborescences({graph, 0, occupation});
  EXPECT_NEAR(packing.rate, 1.0, 1e-9);
  ASSERT_EQ(packing.trees.size(), 1U);
  EXPECT_EQ(packing.trees[0].tree.edge_count(), 2U);
  EXPECT_EQ(packing_fault({graph, 0, occupation}, packing), "");
}

//    0 --> 1 --> 2     the relays 3 and 4 have arcs, to each other and to 1, but no host has one to
//          ^           them
//    3 <=> 4
TEST(Packing, RelaysThatNoHostReaches) {
  const Digraph graph{5, {3, 4, 0, 4, 1}, {4, 3, 1, 1, 2}, {0, 0, 0, 1, 1}};
  SparseMatrix occupation(5, 5);
  for (int arc = 0; arc < 5; ++arc) occupation.insert(arc, arc) = 1.0;
  occupation.makeCompressed();
  const Packing packing = pack_arborescences({graph, 0, occupation});
  ASSERT_EQ(packing.trees.size(), 1U);
  RoutedTree tree;
  tree.add_edge(std::vector<std::uint32_t>{2});
  tree.add_edge(std::vector<std::uint32_t>{4});
  EXPECT_EQ(packing.trees[0].tree, tree);
  EXPECT_EQ(packing_fault({graph, 0, occupation}, packing), "");
}

TEST(Packing, UnreachableHostIsInfeasible) {
  const Digraph graph{3, {0, 2}, {1, 1}, {}};
  SparseMatrix occupation(1, 2);
  occupation.insert(0, 0) = 1.0;
  occupation.insert(0, 1) = 1.0;
  occupation.makeCompressed();
  EXPECT_THROW(pack_arborescences({graph, 0, occupation}), InfeasibleError);
}

TEST(Packing, LimitsLeaveAValidPlanAndAValidGap) {
  const RandomProblem made =
      random_problem({.hosts = 60, .extra_links = 400}, ModelKind::kUnidirectional, 3);
  PackingOptions iterations;
  iterations.max_iterations = 5;
  PackingOptions time;
  time.deadline = Deadline(Seconds{0});
  for (const PackingOptions& options : {iterations, time}) {
    const Packing packing = pack_arborescences(made.problem(), options);
    EXPECT_EQ(packing.end, PackingEnd::kLimit);
    EXPECT_EQ(packing_fault(made.problem(), packing), "");
    EXPECT_GE(packing.bound, packing.rate);
    EXPECT_GE(packing.trees.size(), 1U);
  }
}

// The number of arborescences priced is the algorithm's cost: this test shows a change that makes
// it worse.
TEST(Packing, PricesFewArborescences) {
  const RandomProblem made =
      random_problem({.hosts = 50, .extra_links = 100}, ModelKind::kOnePort, 1);
  EXPECT_LE(pack_arborescences(made.problem()).arborescences_priced, 200U);
}

}  // namespace
}  // namespace espalier::lp::arborescence_packing_test
