#include "lp/packing/low_latency_trees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lp/graph/crowding.hpp"
#include "lp/graph/tree_routes.hpp"
#include "lp/packing/few_trees.hpp"
#include "tests/lp/tree_sets.hpp"

namespace espalier::lp::low_latency_trees_test {
namespace {

using testing::fault_of;
using testing::kAllModels;
using testing::ModelKind;
using testing::random_latencies;
using testing::random_problem;
using testing::RandomProblem;
using testing::rate_of;

double mean_way_s(const RandomProblem& made, const std::vector<PackedTree>& trees) {
  double way_s = 0;
  for (const PackedTree& packed : trees) {
    way_s += packed.rate *
             segment_travel_time(made.graph, made.occupation, made.root, packed.tree).value;
  }
  return way_s / rate_of(trees);
}

std::size_t out_degree(const RandomProblem& made, const std::vector<PackedTree>& trees) {
  std::size_t most = 0;
  for (const PackedTree& packed : trees) {
    most = std::max(most, out_degree_of(made.graph, packed.tree));
  }
  return most;
}

double crowding(const RandomProblem& made, const std::vector<PackedTree>& trees) {
  return crowding_of(made.graph.latency_s, made.occupation, trees);
}

class LowLatencyTrees : public ::testing::TestWithParam<ModelKind> {};

TEST_P(LowLatencyTrees, CarryAsMuchAndHaveLowerLatency) {
  // Not fewer under the sanitizers: in a few draws there may be nothing to gain.
  constexpr std::uint64_t kDraws = 16;
  std::size_t nearer_ones = 0;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    RandomProblem made = random_problem(
        {.hosts = 14, .relays = seed % 4 == 0 ? 3U : 0U, .extra_links = 40}, GetParam(), seed);
    made.graph.latency_s = random_latencies(made.graph, seed);
    SCOPED_TRACE(made.name);
    const Packing packing = pack_arborescences(made.problem());
    const auto trees = pack_few_trees(made.problem(), packing).trees;
    const auto nearer = lower_latency(made.problem(), packing, trees).trees;
    EXPECT_EQ(fault_of(made, packing, nearer), "");
    EXPECT_GE(rate_of(nearer), std::min(rate_of(trees), packing.bound * (1 - 1e-6)));
    EXPECT_LE(nearer.size(), trees.size());
    EXPECT_LE(out_degree(made, nearer), out_degree(made, trees));
    EXPECT_LE(mean_way_s(made, nearer) * std::max(1.0, crowding(made, nearer)),
              mean_way_s(made, trees) * std::max(1.0, crowding(made, trees)));
    nearer_ones += mean_way_s(made, nearer) < 0.95 * mean_way_s(made, trees) ? 1 : 0;
  }
  EXPECT_GT(nearer_ones, 0U);
}

INSTANTIATE_TEST_SUITE_P(Models, LowLatencyTrees, ::testing::ValuesIn(kAllModels));

//    0 -- 10 ms --> 1 -- 10 ms --> 2      Both chains carry as much as 0's port.
//    0 -- 50 ms --> 2 -- 50 ms --> 1
RandomProblem two_chains() {
  RandomProblem made;
  made.graph.node_count = 3;
  made.graph.tail = {0, 1, 0, 2};
  made.graph.head = {1, 2, 2, 1};
  made.graph.latency_s = {0.01, 0.01, 0.05, 0.05};
  made.occupation.resize(3, 4);
  for (const auto& [port, arc] : {std::pair{0, 0}, {0, 2}, {1, 1}, {2, 3}}) {
    made.occupation.insert(port, arc) = 1e-8;
  }
  made.occupation.makeCompressed();
  return made;
}

RoutedTree chain(std::uint32_t first_arc, std::uint32_t second_arc) {
  RoutedTree tree;
  tree.add_edge({&first_arc, 1});
  tree.add_edge({&second_arc, 1});
  return tree;
}

TEST(LowLatencyTrees, TheShorterOfTwoChainsIsTaken) {
  const RandomProblem made = two_chains();
  const Packing packing = pack_arborescences(made.problem());
  const std::vector<PackedTree> far{{chain(2, 3), 1e8}};
  const auto nearer = lower_latency(made.problem(), packing, far).trees;
  ASSERT_EQ(nearer.size(), 1U);
  EXPECT_NEAR(nearer[0].rate, 1e8, 1);
  EXPECT_DOUBLE_EQ(latency_of(made.graph, 0, nearer[0].tree).value, 0.02);
}

TEST(LowLatencyTrees, WithoutLatenciesNothingChanges) {
  RandomProblem made = two_chains();
  made.graph.latency_s.clear();
  const Packing packing = pack_arborescences(made.problem());
  const std::vector<PackedTree> far{{chain(2, 3), 1e8}};
  const auto nearer = lower_latency(made.problem(), packing, far).trees;
  ASSERT_EQ(nearer.size(), 1U);
  EXPECT_EQ(nearer[0].tree, far[0].tree);
}

// Hosts 0 to 3 with ports of 100 MB/s, near each other; 10 MB/s to host 4, from each, `far_s` away.
RandomProblem outpost(double far_s) {
  constexpr std::uint32_t kNear = 4;
  RandomProblem made;
  made.graph.node_count = kNear + 1;
  std::vector<Eigen::Triplet<double>> uses;
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    const auto arc = static_cast<int>(made.graph.arc_count());
    made.graph.tail.push_back(from);
    made.graph.head.push_back(to);
    made.graph.latency_s.push_back(to == kNear ? far_s : 1e-5);
    uses.emplace_back(from, arc, 1e-8);
    if (to == kNear) uses.emplace_back(kNear, arc, 1e-7);
  };
  for (std::uint32_t from = 0; from < kNear; ++from) {
    for (std::uint32_t to = 1; to <= kNear; ++to) {
      if (from != to) add(from, to);
    }
  }
  made.occupation.resize(kNear + 1, static_cast<int>(made.graph.arc_count()));
  made.occupation.setFromTriplets(uses.begin(), uses.end());
  return made;
}

// Host 0 sends to all others.
RoutedTree star(const RandomProblem& made) {
  RoutedTree tree;
  for (std::uint32_t arc = 0; made.graph.tail[arc] == 0; ++arc) tree.add_edge({&arc, 1});
  return tree;
}

TEST(Crowding, AddsWhatNearerEdgesTakeOfThePort) {
  const RandomProblem far = outpost(0.01);
  EXPECT_NEAR(crowding(far, {{star(far), 1e7}}), 1.3, 1e-9);
  EXPECT_NEAR(crowding(far, {{star(far), 4e6}, {star(far), 6e6}}), 1.3, 1e-9);  // the same edges
  EXPECT_NEAR(crowding(far, {{star(far), 5e6}}), 0.65, 1e-9);
  const RandomProblem near = outpost(4e-5);  // not much farther than the others
  EXPECT_NEAR(crowding(near, {{star(near), 1e7}}), 1, 1e-9);
  RandomProblem no_latencies = outpost(0.01);
  no_latencies.graph.latency_s.clear();
  EXPECT_EQ(crowding(no_latencies, {{star(no_latencies), 1e7}}), 0);
}

TEST(LessCrowded, TheFarLinkIsOfAHostWithFewChildren) {
  const RandomProblem made = outpost(0.01);
  const Packing packing = pack_arborescences(made.problem());
  const std::vector<PackedTree> other = less_crowded(made.problem(), packing, {{star(made), 1e7}});
  EXPECT_EQ(fault_of(made, packing, other), "");
  EXPECT_NEAR(rate_of(other), 1e7, 1);
  EXPECT_LE(crowding(made, other), 1.2);
}

TEST(LessCrowded, TreesThatAreNotCrowdedStayAsTheyAre) {
  const RandomProblem made = outpost(4e-5);
  const Packing packing = pack_arborescences(made.problem());
  const std::vector<PackedTree> same = less_crowded(made.problem(), packing, {{star(made), 1e7}});
  ASSERT_EQ(same.size(), 1U);
  EXPECT_EQ(same[0].tree, star(made));
}

// 100 MB/s: 0.65536 ms for a segment of 64 KiB on each edge.
TEST(TreeRoutes, AddLatenciesAndSegments) {
  const RandomProblem made = two_chains();
  const RoutedTree tree = chain(0, 1);
  EXPECT_EQ(depth_of(made.graph, 0, tree), 2U);
  EXPECT_EQ(out_degree_of(made.graph, tree), 1U);
  EXPECT_DOUBLE_EQ(segment_travel_time(made.graph, made.occupation, 0, tree).value,
                   0.02 + 2 * 0.00065536);
}

}  // namespace
}  // namespace espalier::lp::low_latency_trees_test
