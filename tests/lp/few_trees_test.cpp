#include "lp/packing/few_trees.hpp"

#include <gtest/gtest.h>

#include "tests/lp/tree_sets.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::few_trees_test {
namespace {

using namespace espalier::testing;
using namespace lp::testing;

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
