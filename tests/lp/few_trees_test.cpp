#include "lp/packing/few_trees.hpp"

#include <gtest/gtest.h>

#include "tests/lp/tree_sets.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::few_trees_test {
namespace {

using espalier::testing::draws;
using testing::fault_of;
using testing::kAllModels;
using testing::ModelKind;
using testing::random_problem;
using testing::RandomProblem;
using testing::rate_of;

class FewTrees : public ::testing::TestWithParam<ModelKind> {};

TEST_P(FewTrees, WithoutALimitTheyKeepTheOptimum) {
  for (std::uint64_t seed = 1; seed <= draws(20); ++seed) {
    const RandomProblem made = random_problem(
        {.hosts = 14, .relays = seed % 4 == 0 ? 3U : 0U, .extra_links = 30}, GetParam(), seed);
    SCOPED_TRACE(made.name);
    const Packing packing = pack_arborescences(made.problem());
    const std::vector<PackedTree> trees = pack_few_trees(made.problem(), packing).trees;
    EXPECT_EQ(fault_of(made, packing, trees), "");
    EXPECT_LE(trees.size(), packing.trees.size());
    EXPECT_GE(rate_of(trees), packing.rate * (1 - 1e-6));
  }
}

TEST_P(FewTrees, MoreTreesAreNeverSlower) {
  const RandomProblem made = random_problem({.hosts = 16, .extra_links = 60}, GetParam(), 2);
  const Packing packing = pack_arborescences(made.problem());
  double before = 0;
  for (const std::size_t most : {1U, 2U, 4U, 8U, 16U}) {
    FewTreesOptions options;
    options.max_trees = most;
    const std::vector<PackedTree> trees = pack_few_trees(made.problem(), packing, options).trees;
    EXPECT_LE(trees.size(), most);
    EXPECT_EQ(fault_of(made, packing, trees), "");
    EXPECT_GE(rate_of(trees), before * (1 - 1e-9));
    before = rate_of(trees);
  }
}

// In any order, and with limits that are no powers of two.
TEST_P(FewTrees, SearchesThatGoOnFromOthersFindWhatTheyFindAlone) {
  const RandomProblem made = random_problem({.hosts = 16, .extra_links = 60}, GetParam(), 3);
  const Packing packing = pack_arborescences(made.problem());
  FewTreesSoFar so_far;
  for (const std::size_t most : {2U, 1U, 5U, 8U, 4U, 3U}) {
    FewTreesOptions options;
    options.max_trees = most;
    const std::vector<PackedTree> alone = pack_few_trees(made.problem(), packing, options).trees;
    options.so_far = &so_far;
    const std::vector<PackedTree> found = pack_few_trees(made.problem(), packing, options).trees;
    EXPECT_TRUE(std::ranges::equal(found, alone, [](const PackedTree& a, const PackedTree& b) {
      return a.tree == b.tree && a.rate == b.rate;
    })) << most;
  }
  EXPECT_TRUE(so_far.by_count.contains(4));
}

std::size_t largest_out_degree(const RandomProblem& made, const std::vector<PackedTree>& trees) {
  std::size_t largest = 0;
  for (const PackedTree& packed : trees) {
    std::vector<std::size_t> children(made.graph.node_count, 0);
    for (std::size_t edge = 0; edge < packed.tree.edge_count(); ++edge) {
      const std::uint32_t parent = made.graph.tail[packed.tree.path(edge).front()];
      largest = std::max(largest, ++children[parent]);
    }
  }
  return largest;
}

TEST_P(FewTrees, FlatteningIsNoSlowerAndRaisesNoOutDegree) {
  for (std::uint64_t seed = 1; seed <= draws(20); ++seed) {
    const RandomProblem made = random_problem({.hosts = 14, .extra_links = 40}, GetParam(), seed);
    SCOPED_TRACE(made.name);
    const Packing packing = pack_arborescences(made.problem());
    const auto flat = flatten_trees(made.problem(), packing, packing.trees).trees;
    EXPECT_EQ(fault_of(made, packing, flat), "");
    EXPECT_LE(flat.size(), packing.trees.size());
    EXPECT_GE(rate_of(flat), packing.rate * (1 - 1e-8));
    EXPECT_LE(largest_out_degree(made, flat), largest_out_degree(made, packing.trees));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, FewTrees, ::testing::ValuesIn(kAllModels));

}  // namespace
}  // namespace espalier::lp::few_trees_test
