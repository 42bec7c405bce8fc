// Packings from many roots of one graph, against the packing of a copy for each.
#include "lp/dense/packing_from_roots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "lp/bounds/plain_bound.hpp"
#include "lp/problem/parts_problem.hpp"
#include "support/deadline.hpp"
#include "tests/lp/plain_certificate.hpp"
#include "tests/lp/random_problems.hpp"

namespace espalier::lp::packing_from_roots_test {
namespace {

using testing::kAllModels;
using testing::ModelKind;
using testing::random_problem;
using testing::RandomProblem;

// Of every host but the last, the first ones more; or equal ones of all.
std::vector<PartRoot> roots_of(const Digraph& graph, bool equal) {
  std::vector<PartRoot> roots;
  const double hosts = graph.node_count;
  for (std::uint32_t host = 0; host < graph.node_count; ++host) {
    const double share = equal ? 1 / hosts : 2 * (hosts - 1 - host) / (hosts * (hosts - 1));
    if (share > 0) roots.push_back({host, share});
  }
  return roots;
}

PartsProblem copies_for(const RandomProblem& made, const std::vector<PartRoot>& roots) {
  std::vector<Part> parts;
  for (const auto& [root, share] : roots) parts.push_back({root, false, share});
  return {made.graph, made.occupation, parts};
}

// Whether the arcs are a tree of all nodes, from this one on.
bool spans_from(const Digraph& graph, std::uint32_t root, const RoutedTree& tree) {
  std::vector<std::uint32_t> parent(graph.node_count, kNone);
  for (const std::uint32_t arc : tree.arcs) {
    if (parent[graph.head[arc]] != kNone) return false;
    parent[graph.head[arc]] = graph.tail[arc];
  }
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    std::uint32_t at = node;
    for (std::uint32_t steps = 0; at != root; ++steps) {
      if (parent[at] == kNone || steps > graph.node_count) return false;
      at = parent[at];
    }
  }
  return parent[root] == kNone;
}

// That each root's trees carry its share of the rate, that together they fit, and that the prices
// prove the bound.
void expect_valid(const RandomProblem& made, const std::vector<PartRoot>& roots,
                  const PackingFromRoots& found) {
  const Packing& packing = found.packing;
  ASSERT_EQ(packing.trees.size(), found.roots.size());
  std::vector<double> carried(roots.size(), 0.0);
  Eigen::VectorXd load = Eigen::VectorXd::Zero(made.occupation.rows());
  for (std::size_t i = 0; i < packing.trees.size(); ++i) {
    const auto& [tree, rate] = packing.trees[i];
    EXPECT_TRUE(spans_from(made.graph, roots[found.roots[i]].root, tree));
    carried[found.roots[i]] += rate;
    for (const std::uint32_t arc : tree.arcs) {
      for (auto use = uses_of(made.occupation, arc); use; ++use) {
        load[use.row()] += rate * use.value();
      }
    }
  }
  EXPECT_LE(load.maxCoeff(), 1 + 1e-9);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    EXPECT_NEAR(carried[i], roots[i].share * packing.rate, 1e-9 * packing.rate);
  }
  std::vector<double> cost(made.graph.arc_count(), 0.0);
  for (std::uint32_t arc = 0; arc < cost.size(); ++arc) {
    for (auto use = uses_of(made.occupation, arc); use; ++use) {
      cost[arc] += use.value() * packing.prices[static_cast<std::size_t>(use.row())];
    }
  }
  double least = 0;
  for (const auto& [root, share] : roots) {
    least += share * plain_min_arborescence_cost(made.graph.node_count, made.graph.tail,
                                                 made.graph.head, cost, root)
                         .value();
  }
  EXPECT_NEAR(1 / least, packing.bound, 1e-9 * packing.bound);
}

TEST(PackingFromRoots, ThePlainBoundIsAboveTheOptimum) {
  for (const ModelKind model : kAllModels) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const RandomProblem made = random_problem({.hosts = 7}, model, seed);
      SCOPED_TRACE(made.name);
      const std::vector<PartRoot> roots = roots_of(made.graph, seed % 2 == 0);
      EXPECT_GE(plain_bound(made.problem(), roots).rate,
                pack_arborescences(copies_for(made, roots).problem()).rate * (1 - 1e-9));
    }
  }
}

// Two hosts whose links carry 1 and 2 bytes per second: each receives what is not its own.
TEST(PackingFromRoots, ThePlainBoundKnowsEachHostsOwnShare) {
  const Digraph graph{2, {0, 1}, {1, 0}, {}};
  SparseMatrix occupation(2, 2);
  occupation.insert(0, 0) = 1.0;
  occupation.insert(1, 1) = 0.5;
  const auto rate = [&](double share) {
    return plain_bound({graph, 0, occupation}, std::vector<PartRoot>{{0, share}, {1, 1 - share}})
        .rate;
  };
  EXPECT_DOUBLE_EQ(rate(0.5), 2);
  EXPECT_DOUBLE_EQ(rate(0.2), 2.5);
  EXPECT_DOUBLE_EQ(rate(0.8), 1.25);
}

TEST(PackingFromRoots, IsBelowTheOptimumAndItsBoundAbove) {
  for (const ModelKind model : kAllModels) {
    for (const bool equal : {true, false}) {
      const RandomProblem made = random_problem({.hosts = 12, .extra_links = 40}, model, 12);
      SCOPED_TRACE(made.name);
      const std::vector<PartRoot> roots = roots_of(made.graph, equal);
      const PackingFromRoots found = pack_from_roots(made.problem(), roots, {});
      expect_valid(made, roots, found);
      const double optimum = pack_arborescences(copies_for(made, roots).problem()).rate;
      EXPECT_LE(found.packing.rate, optimum * (1 + 1e-6));
      EXPECT_GE(found.packing.bound, optimum * (1 - 1e-9));
      EXPECT_LE(found.packing.bound, optimum * 1.02);
      EXPECT_GE(found.packing.rate, optimum * 0.9);
    }
  }
}

// Two hundred ports or links are full at the optimum.
TEST(PackingFromRoots, ComesWithinAThousandthOfAProofOnDenseNetworks) {
  for (const ModelKind model : {ModelKind::kUnidirectional, ModelKind::kMultiPort}) {
    const RandomProblem made =
        random_problem({.hosts = 130, .extra_links = 8 * 130, .decades = 0.2}, model, 13);
    SCOPED_TRACE(made.name);
    const std::vector<PartRoot> roots = roots_of(made.graph, true);
    const PackingFromRoots found = pack_from_roots(made.problem(), roots, {});
    EXPECT_EQ(found.packing.end, PackingEnd::kGapReached);
    EXPECT_LE(found.packing.bound, found.packing.rate * 1.001);
    expect_valid(made, roots, found);
  }
}

TEST(PackingFromRoots, LimitsTheTreesOfEachRoot) {
  const RandomProblem made =
      random_problem({.hosts = 20, .extra_links = 60}, ModelKind::kBoundedMultiPort, 14);
  const std::vector<PartRoot> roots = roots_of(made.graph, false);
  PackingFromRootsOptions one;
  one.max_trees = 1;
  const PackingFromRoots found = pack_from_roots(made.problem(), roots, one);
  EXPECT_EQ(found.packing.trees.size(), roots.size());
  expect_valid(made, roots, found);
}

// With the cheapest trees, which any bound comes with.
TEST(PackingFromRoots, EndsAtTheDeadline) {
  const RandomProblem made = random_problem({.hosts = 30}, ModelKind::kOnePort, 15);
  const std::vector<PartRoot> roots = roots_of(made.graph, true);
  PackingFromRootsOptions none;
  none.deadline = Deadline(Seconds{0});
  const PackingFromRoots found = pack_from_roots(made.problem(), roots, none);
  EXPECT_EQ(found.packing.end, PackingEnd::kLimit);
  EXPECT_EQ(found.packing.trees.size(), roots.size());
  expect_valid(made, roots, found);
}

}  // namespace
}  // namespace espalier::lp::packing_from_roots_test
