// Rings over the hosts of networks with switches, and the plans for all roots along them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lp/fabric/rings.hpp"
#include "planner/check/verify.hpp"
#include "planner/problem/all_roots.hpp"
#include "planner/solve/solve_packing.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::fabric_rings_test {
namespace {

using platforms::Model;
using platforms::Platform;
using ::testing::IsEmpty;

Platform fat_tree(std::vector<double> oversubscription) {
  platforms::FatTreeFamily family;
  family.shape = platforms::k_port_fat_tree(8);  // 128 hosts
  family.oversubscription = std::move(oversubscription);
  return platforms::generate_fat_tree(family);
}

// 72 hosts
Platform dragonfly(double heterogeneity) {
  platforms::DragonflyFamily family;
  family.spread.heterogeneity = heterogeneity;
  return platforms::generate_dragonfly(family);
}

// Every host once, and each path leads through switches from a host to the next.
void expect_ring(const lp::HostRing& ring, const lp::Digraph& graph) {
  ASSERT_EQ(ring.hosts.size(), graph.host_count());
  std::vector<std::uint32_t> sorted = ring.hosts;
  std::ranges::sort(sorted);
  EXPECT_THAT(std::ranges::adjacent_find(sorted), sorted.end());
  ASSERT_EQ(ring.ways.edge_count(), ring.hosts.size());
  for (std::size_t i = 0; i < ring.hosts.size(); ++i) {
    std::uint32_t at = ring.hosts[i];
    for (const std::uint32_t arc : ring.ways.path(i)) {
      ASSERT_EQ(graph.tail[arc], at);
      at = graph.head[arc];
    }
    EXPECT_EQ(at, ring.hosts[(i + 1) % ring.hosts.size()]);
  }
}

// The load of all resources when all rings together carry `rate`.
double busiest(const lp::HostRings& found, const lp::SparseMatrix& occupation, double rate) {
  std::vector<double> load(static_cast<std::size_t>(occupation.rows()), 0.0);
  for (const lp::HostRing& ring : found.rings) {
    const std::vector<double> more = lp::tree_load(occupation, ring.ways);
    for (std::size_t row = 0; row < load.size(); ++row) {
      load[row] += rate / static_cast<double>(found.rings.size()) * more[row];
    }
  }
  return std::ranges::max(load);
}

TEST(FabricRings, CarryWhatTheSlowestHostDoes) {
  const std::vector<Platform> platforms{fat_tree({}), fat_tree({2, 2}), dragonfly(0),
                                        dragonfly(0.3)};
  for (const Platform& platform : platforms) {
    for (const Model model : {Model::kOnePort, Model::kOnePortUnidirectional}) {
      const Instance instance(platform, platform.hosts().front(), model);
      const lp::PackingProblem problem = packing_problem(instance);
      const lp::HostRings found = lp::fabric_rings(problem, Deadline());
      ASSERT_FALSE(found.rings.empty()) << platform.name();
      EXPECT_TRUE(found.fill_hosts) << platform.name();
      for (const lp::HostRing& ring : found.rings) expect_ring(ring, problem.graph);
      double slowest_s = 0;  // per byte, the time of a host's own links
      for (std::uint32_t arc = 0; arc < problem.graph.arc_count(); ++arc) {
        if (problem.graph.relay(problem.graph.tail[arc])) continue;
        for (auto use = lp::uses_of(problem.occupation, arc); use; ++use) {
          slowest_s = std::max(slowest_s, use.value());
        }
      }
      const double directions = model == Model::kOnePort ? 1 : 2;
      const double load = busiest(found, problem.occupation, 1 / (directions * slowest_s));
      EXPECT_LE(load, 1 + 1e-9) << platform.name();
      if (&platform != &platforms.back()) {
        EXPECT_GE(load, 1 - 1e-9) << platform.name();  // no two hosts are unlike
      }
    }
  }
}

TEST(FabricRings, NeedHostsWithOneLinkToASwitch) {
  const Platform platform = espalier::testing::complete_platform(8, 10);
  const Instance instance(platform, platform.hosts().front(), Model::kOnePort);
  EXPECT_THAT(lp::fabric_rings(packing_problem(instance), Deadline()).rings, IsEmpty());
}

// Of n equal hosts, each of which receives all but its own part.
TEST(FabricRings, AreOptimalForAllRoots) {
  for (const Platform& platform : {fat_tree({2, 2}), dragonfly(0)}) {
    for (const Operation operation : {Operation::kAllgather, Operation::kReduceScatter}) {
      const AllRoots problem(operation, platform, Model::kOnePort);
      const double hosts = static_cast<double>(platform.hosts().size());
      const double optimum = 1.25e9 * hosts / (hosts - 1);  // 10 Gbit/s
      const Outcome outcome = solve(problem, {}, Purpose::kPlan);
      EXPECT_NEAR(outcome.bound->value, optimum, 1e-6 * optimum);
      const Plan plan = make_plan(problem, kOptimal, outcome, Bytes{1 << 20});
      EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
      EXPECT_NEAR(plan.throughput.value, optimum, 1e-6 * optimum) << platform.name();
    }
  }
}

// More trees than were asked for are not made.
TEST(FabricRings, AreLimitedInNumber) {
  const Platform platform = fat_tree({2, 2});
  AlgorithmOptions options;
  options.max_trees = 1;
  options.gap = 0.01;
  const AllRoots problem(Operation::kAllgather, platform, Model::kOnePort);
  const Outcome outcome = solve(problem, options, Purpose::kPlan);
  for (const BlockOfTrees& block : outcome.blocks) EXPECT_EQ(block.trees.size(), 1U);
  EXPECT_GE(throughput_of(outcome).value * 1.01, outcome.bound->value);
}

}  // namespace
}  // namespace espalier::planner::fabric_rings_test
