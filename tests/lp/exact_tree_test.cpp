#include "lp/single/exact_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "lp/single/single_tree.hpp"
#include "tests/lp/random_problems.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::exact_tree_test {
namespace {

using namespace espalier::testing;
using namespace lp::testing;

HostArcs arcs_of(const RandomProblem& made) {
  return {made.graph, made.occupation, std::vector<double>(made.graph.arc_count(), 1.0)};
}

// The least busiest load of all spanning trees: chooses a parent for one host after the other, and
// backtracks where the load is no better than the best.
class PlainSearch {
 public:
  PlainSearch(const HostArcs& arcs, std::uint32_t root)
      : arcs_(arcs), root_(root), parent_(arcs.node_count(), root), load_(arcs.resource_count()) {
    for (std::uint32_t node = 0; node < arcs.node_count(); ++node) {
      if (node != root && !arcs.into(node).empty()) hosts_.push_back(node);
    }
    choose(0);
  }
  [[nodiscard]] double best() const { return best_; }

 private:
  void choose(std::size_t position) {
    if (*std::ranges::max_element(load_) >= best_) return;
    if (position == hosts_.size()) {
      if (leads_up_everywhere()) best_ = *std::ranges::max_element(load_);
      return;
    }
    const std::uint32_t host = hosts_[position];
    for (const std::uint32_t arc : arcs_.into(host)) {
      parent_[host] = arcs_.tail(arc);
      for (const auto& [resource, seconds] : arcs_.uses(arc)) load_[resource] += seconds;
      choose(position + 1);
      for (const auto& [resource, seconds] : arcs_.uses(arc)) load_[resource] -= seconds;
    }
  }
  [[nodiscard]] bool leads_up_everywhere() const {
    return std::ranges::all_of(hosts_, [this](std::uint32_t node) {
      for (std::size_t steps = 0; node != root_ && steps <= hosts_.size(); ++steps) {
        node = parent_[node];
      }
      return node == root_;
    });
  }

  const HostArcs& arcs_;
  std::uint32_t root_;
  std::vector<std::uint32_t> hosts_;
  std::vector<std::uint32_t> parent_;
  std::vector<double> load_;
  double best_ = std::numeric_limits<double>::infinity();
};

// Empty: the tree spans all hosts from the root and has the stated load.
std::string fault_of(const RandomProblem& made, const RoutedTree& tree, double busiest_load) {
  std::vector<char> reached(made.graph.node_count, 0);
  reached[made.root] = 1;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    if (reached[made.graph.tail[tree.path(edge).front()]] == 0) return "a parent after its child";
    char& child = reached[made.graph.head[tree.path(edge).back()]];
    if (child != 0) return "a host with two parents";
    child = 1;
  }
  if (tree.edge_count() + 1 != made.graph.host_count()) return "not all hosts";
  const std::vector<double> load = tree_load(made.occupation, tree);
  const double busiest = *std::ranges::max_element(load);
  return std::abs(busiest - busiest_load) < 1e-9 * busiest ? "" : "another load";
}

RoutedTree any_tree(const RandomProblem& made) {
  return pack_arborescences(made.problem()).trees.front().tree;
}

class BestTrees : public ::testing::TestWithParam<ModelKind> {};

TEST_P(BestTrees, AreThoseOfASearchThroughAllTrees) {
  for (std::uint64_t seed = 1; seed <= draws(60); ++seed) {
    const RandomProblem made = random_problem({.hosts = 4 + static_cast<std::uint32_t>(seed % 5),
                                               .relays = seed % 5 == 0 ? 2U : 0U,
                                               .extra_links = 10,
                                               .shared_links = seed % 3 == 0 ? 2U : 0U,
                                               .decades = seed % 4 == 0 ? 3.0 : 0.3,
                                               .equal = seed % 7 == 0},
                                              GetParam(), seed);
    SCOPED_TRACE(made.name);
    const HostArcs arcs = arcs_of(made);
    const double best = PlainSearch(arcs, made.root).best();
    const ExactTree exact = find_exact_tree(arcs, made.root, any_tree(made));
    EXPECT_TRUE(exact.proven);
    EXPECT_EQ(fault_of(made, exact.tree, exact.busiest_load), "");
    EXPECT_NEAR(exact.busiest_load / best, 1, 2e-6);
    EXPECT_LE(exact.bound, best * (1 + 1e-9));

    const RoutedTree start = any_tree(made);
    const SingleTree walked = search_single_tree(arcs, made.root, {start}, {{}, 1, 20'000});
    EXPECT_EQ(fault_of(made, walked.tree, walked.busiest_load), "");
    EXPECT_GE(walked.busiest_load, best * (1 - 1e-9));
    if (!made.graph.is_relay.empty()) continue;  // the start may use other paths than `arcs`
    const std::vector<double> load = tree_load(made.occupation, start);
    EXPECT_LE(walked.busiest_load, *std::ranges::max_element(load) * (1 + 1e-9));
  }
}

TEST_P(BestTrees, ALimitLeavesAValidBound) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const RandomProblem made = random_problem({.hosts = 24, .extra_links = 60}, GetParam(), seed);
    SCOPED_TRACE(made.name);
    const HostArcs arcs = arcs_of(made);
    const RoutedTree start = any_tree(made);
    const std::vector<double> load = tree_load(made.occupation, start);
    const ExactTree exact = find_exact_tree(arcs, made.root, start);
    for (const double work : {0.0, 1e3, 1e5}) {
      const ExactTree limited = find_exact_tree(arcs, made.root, start, {{}, 0, work});
      EXPECT_EQ(fault_of(made, limited.tree, limited.busiest_load), "");
      EXPECT_LE(limited.busiest_load, *std::ranges::max_element(load) * (1 + 1e-12));
      EXPECT_LE(limited.bound, exact.busiest_load * (1 + 1e-9));
      EXPECT_EQ(limited.proven, limited.busiest_load <= limited.bound * (1 + 1e-6));
    }
  }
}

TEST_P(BestTrees, FewerArcsGiveATreeAndNoBound) {
  const RandomProblem made = random_problem({.hosts = 12, .extra_links = 30}, GetParam(), 3);
  const HostArcs arcs = arcs_of(made);
  const RoutedTree start = any_tree(made);
  ExactTreeOptions options;
  options.excluded.assign(arcs.size(), 1);
  for (std::size_t edge = 0; edge < start.edge_count(); ++edge) {
    const auto [parent, child] = arcs.ends_of(start.path(edge));
    options.excluded[arcs.find(parent, child)] = 0;
  }
  const ExactTree among_its_own = find_exact_tree(arcs, made.root, start, options);
  const std::vector<double> load = tree_load(made.occupation, start);
  EXPECT_DOUBLE_EQ(among_its_own.busiest_load, *std::ranges::max_element(load));
  EXPECT_EQ(among_its_own.bound, 0);
  EXPECT_FALSE(among_its_own.proven);
}

TEST_P(BestTrees, TheSameSeedGivesTheSameWalk) {
  const RandomProblem made = random_problem({.hosts = 20, .extra_links = 60}, GetParam(), 4);
  const HostArcs arcs = arcs_of(made);
  const SingleTreeOptions options{{}, 7, 50'000};
  const SingleTree one = search_single_tree(arcs, made.root, {any_tree(made)}, options);
  const SingleTree other = search_single_tree(arcs, made.root, {any_tree(made)}, options);
  EXPECT_EQ(one.tree, other.tree);
}

INSTANTIATE_TEST_SUITE_P(Models, BestTrees, ::testing::ValuesIn(kAllModels));

}  // namespace
}  // namespace espalier::lp::exact_tree_test
