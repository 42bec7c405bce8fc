#include "planner/solve/cluster_chains.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "planner/check/verify.hpp"
#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "platforms/generators/generators.hpp"

namespace espalier::planner::cluster_chains_test {
namespace {

using platforms::Model;
using platforms::TwoClustersFamily;
using ::testing::IsEmpty;

constexpr double kFar_s = 5e-3;

platforms::Platform two_clusters(TwoClustersFamily::Form form) {
  TwoClustersFamily family;
  family.hosts = {6, 8};
  family.thin_latency = Seconds{kFar_s};
  family.form = form;
  family.interleaved = true;
  family.spread.heterogeneity = 0.3;
  return platforms::generate_two_clusters(family);
}

// Each tree crosses once, at its root, to another host for each root; no host has more than one
// other neighbour in the tree, and nothing is lost.
TEST(ClusterChains, EachRootCrossesByItself) {
  const platforms::Platform platform = two_clusters(TwoClustersFamily::Form::kSwitches);
  for (const Operation operation : {Operation::kAllgather, Operation::kReduceScatter}) {
    const AllRoots problem(operation, platform, Model::kOnePort);
    const Outcome outcome = solve(problem, {}, Purpose::kPlan);
    EXPECT_NEAR(throughput_of(outcome).value, outcome.bound->value, 1e-6 * outcome.bound->value);
    const Plan plan = make_plan(problem, "optimal", outcome, {65536});
    EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
    ASSERT_EQ(plan.blocks.size(), plan.nodes.size());
    std::map<std::uint32_t, std::size_t> entries;  // by host: trees that come to its cluster there
    for (const PlanBlock& block : plan.blocks) {
      ASSERT_EQ(block.trees.size(), 1U);
      const PlanTree& tree = block.trees.front();
      std::vector<std::size_t> children(plan.nodes.size());
      for (std::size_t edge = 0; edge < tree.edges.size(); ++edge) {
        ++children[tree.edges[edge].parent];
        if (tree.latencies[edge].value < kFar_s) continue;
        EXPECT_EQ(tree.edges[edge].parent, block.root);
        ++entries[tree.edges[edge].child];
      }
      for (std::uint32_t host = 0; host < children.size(); ++host) {
        EXPECT_LE(children[host], host == block.root ? 2U : 1U);
      }
    }
    EXPECT_EQ(entries.size(), 6 + 6);  // six roots at six of eight hosts, eight at six
    for (const auto& [host, trees] : entries) EXPECT_LE(trees, 2U);
  }
}

TEST(ClusterChains, NeedHostsThatCanCross) {
  const Deadline unlimited(std::nullopt);
  const platforms::Platform gateways = two_clusters(TwoClustersFamily::Form::kGateways);
  EXPECT_FALSE(chains_through_clusters(AllRoots(Operation::kAllgather, gateways, Model::kOnePort),
                                       unlimited));
  const platforms::Platform switches = two_clusters(TwoClustersFamily::Form::kSwitches);
  EXPECT_FALSE(chains_through_clusters(AllRoots(Operation::kAllreduce, switches, Model::kOnePort),
                                       unlimited));
  platforms::StarFamily star;
  EXPECT_FALSE(chains_through_clusters(
      AllRoots(Operation::kAllgather, platforms::generate_star(star), Model::kOnePort), unlimited));
}

}  // namespace
}  // namespace espalier::planner::cluster_chains_test
