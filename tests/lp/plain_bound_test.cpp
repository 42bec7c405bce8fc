#include "lp/bounds/plain_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "lp/problem/parts_problem.hpp"
#include "tests/lp/plain_certificate.hpp"
#include "tests/lp/random_problems.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::plain_bound_test {
namespace {

using espalier::testing::draws;
using testing::kAllModels;
using testing::ModelKind;
using testing::random_problem;
using testing::RandomProblem;

struct Use {
  int row;
  std::uint32_t arc;
  double seconds;
};

// Arcs from tail to head, and what they occupy.
struct HandMade {
  HandMade(std::uint32_t nodes, std::vector<std::uint32_t> tail, std::vector<std::uint32_t> head,
           const std::vector<Use>& uses) {
    graph.node_count = nodes;
    graph.tail = std::move(tail);
    graph.head = std::move(head);
    int rows = 0;
    std::vector<Eigen::Triplet<double>> entries;
    for (const auto& [row, arc, seconds] : uses) {
      entries.emplace_back(row, static_cast<int>(arc), seconds);
      rows = std::max(rows, row + 1);
    }
    occupation.resize(rows, static_cast<int>(graph.arc_count()));
    occupation.setFromTriplets(entries.begin(), entries.end());
  }
  [[nodiscard]] PackingProblem problem() const { return {graph, 0, occupation}; }
  Digraph graph;
  SparseMatrix occupation;
};

// What the prices are said to prove is proven by the certificate's own code.
void expect_proven(const PackingProblem& problem, const PlainBound& plain) {
  EXPECT_LE(bound_from_prices(problem, plain.prices), plain.rate * (1 + 1e-9));
}

//   0 ---> 1 ---> 2     all arcs occupy row 0, as links on one cable do: 2 + 3 seconds a byte
//   `------------^      (2 is nearer to 0 than to 1: 3 instead of 4)
TEST(PlainBound, OneResourceThatEveryHostNeeds) {
  const HandMade made(3, {0, 1, 0}, {1, 2, 2}, {{0, 0, 2}, {0, 1, 4}, {0, 2, 3}});
  const PlainBound plain = plain_bound(made.problem());
  EXPECT_DOUBLE_EQ(plain.rate, 1.0 / 5);
  expect_proven(made.problem(), plain);
}

//   1 <--- 0 ---> 2 <---> 1     0 sends over both arcs in row 0, at 4 and 2 seconds a byte
TEST(PlainBound, TheRootSendsOnce) {
  const HandMade made(3, {0, 0, 1, 2}, {1, 2, 2, 1},
                      {{0, 0, 4}, {0, 1, 2}, {1, 2, 1e-3}, {2, 3, 1e-3}});
  const PlainBound plain = plain_bound(made.problem());
  EXPECT_DOUBLE_EQ(plain.rate, 1.0 / 2);
  expect_proven(made.problem(), plain);
}

//   0 ---> 1, 2 ---> 1 and 0 <---> 2     host 1 receives over two arcs of 1/8 and 1/4 bytes/s
TEST(PlainBound, AHostReceivesOverAllItsArcs) {
  const HandMade made(3, {0, 2, 0, 2}, {1, 1, 2, 0},
                      {{0, 0, 8}, {1, 1, 4}, {2, 2, 1e-3}, {3, 3, 1e-3}});
  const PlainBound plain = plain_bound(made.problem());
  EXPECT_DOUBLE_EQ(plain.rate, 1.0 / 8 + 1.0 / 4);
  expect_proven(made.problem(), plain);
}

// All pairs of four hosts, of which only the root sends fast: 1 + 3 / 10 bytes/s for three hosts.
TEST(PlainBound, AllHostsTogetherSendToAllButOne) {
  std::vector<std::uint32_t> tail;
  std::vector<std::uint32_t> head;
  std::vector<Use> uses;
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (std::uint32_t to = 0; to < 4; ++to) {
      if (from == to) continue;
      uses.push_back({static_cast<int>(from), static_cast<std::uint32_t>(tail.size()),
                      from == 0 ? 1.0 : 10.0});
      tail.push_back(from);
      head.push_back(to);
    }
  }
  const HandMade made(4, tail, head, uses);
  const PlainBound plain = plain_bound(made.problem());
  EXPECT_DOUBLE_EQ(plain.rate, (1 + 3 * 0.1) / 3);
  expect_proven(made.problem(), plain);
}

//   0 ---> s ---> t ---> 1     s, t and u are relays. No host's own links are narrow, but together
//          |      v            the two into the part with 1 and 2 are: 1/4 + 1/8.
//          `----> u ---> 2
TEST(PlainBound, ThePartBehindNarrowLinks) {
  HandMade made(6, {0, 3, 3, 4, 4, 5}, {3, 4, 5, 5, 1, 2},
                {{0, 0, 0.1}, {1, 1, 4}, {2, 2, 8}, {3, 3, 0.1}, {4, 4, 0.1}, {5, 5, 0.1}});
  made.graph.is_relay = {0, 0, 0, 1, 1, 1};
  const PlainBound plain = plain_bound(made.problem());
  EXPECT_DOUBLE_EQ(plain.rate, 1.0 / 4 + 1.0 / 8);
  expect_proven(made.problem(), plain);
}

//   0 ---> 1 ---> 2     one row an arc, 2 seconds a byte: the chain is optimal, without pricing
TEST(PlainBound, IsEnoughWhereASeedReachesIt) {
  const HandMade made(3, {0, 1}, {1, 2}, {{0, 0, 2}, {1, 1, 2}});
  PackingOptions options;
  options.seeds = {RoutedTree{{0, 1}, {}}};
  options.seeds_may_do = true;
  const Packing packing = pack_arborescences(made.problem(), options);
  EXPECT_EQ(packing.end, PackingEnd::kGapReached);
  EXPECT_EQ(packing.arborescences_priced, 0U);
  EXPECT_EQ(packing_fault(made.problem(), packing), "");
}

// The prices of the many links must not add up next to those of the few ports.
TEST(PlainBound, TheFirstPricesLeaveSingleLinksOut) {
  const RandomProblem made =
      random_problem({.hosts = 120, .extra_links = 3000}, ModelKind::kMultiPort, 5);
  const Packing best = pack_arborescences(made.problem());
  PackingOptions options;
  options.max_iterations = 3;
  const Packing first = pack_arborescences(made.problem(), options);
  EXPECT_LE(first.bound, best.bound * 1.01);
}

class PlainBoundOfModel : public ::testing::TestWithParam<ModelKind> {};

TEST_P(PlainBoundOfModel, IsProvenByItsPricesAndNotBelowTheOptimum) {
  for (std::uint64_t seed = 1; seed <= draws(200); ++seed) {
    const RandomProblem made = random_problem({.hosts = 3 + static_cast<std::uint32_t>(seed % 8),
                                               .relays = static_cast<std::uint32_t>(seed % 3),
                                               .extra_links = 10,
                                               .shared_links = seed % 2 == 0 ? 1U : 0U,
                                               .decades = seed % 5 == 0 ? 3 : 0.3},
                                              GetParam(), seed);
    SCOPED_TRACE(made.name);
    const PartsProblem doubled(made.graph, made.occupation, {{made.root}, {made.root, true}});
    for (const PackingProblem& problem : {made.problem(), doubled.problem()}) {
      const PlainBound plain = plain_bound(problem);
      ASSERT_FALSE(plain.prices.empty());
      expect_proven(problem, plain);
      EXPECT_GE(plain.rate, pack_arborescences(problem).rate * (1 - 1e-9));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PlainBoundOfModel, ::testing::ValuesIn(kAllModels));

}  // namespace
}  // namespace espalier::lp::plain_bound_test
