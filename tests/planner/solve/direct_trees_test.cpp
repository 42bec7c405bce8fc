// Trees built directly over networks with switches: every load recomputed by `verify`, shallow, and
// as good as the packing's bound.
#include "lp/fabric/direct_trees.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lp/bounds/plain_bound.hpp"
#include "planner/check/verify.hpp"
#include "planner/problem/collective.hpp"
#include "planner/solve/make_plan.hpp"
#include "planner/solve/solve_packing.hpp"
#include "platforms/core/reversed.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"

namespace espalier::planner::direct_trees_test {
namespace {

using espalier::testing::collective_of;
using espalier::testing::draws;
using espalier::testing::instance_of;
using platforms::Platform;
using ::testing::IsEmpty;

Platform star(const platforms::Spread& spread) {
  platforms::StarFamily family;
  family.hosts = 100;
  family.spread = spread;
  return platforms::generate_star(family);
}
Platform fat_tree_of(std::size_t ports, std::vector<double> oversubscription,
                     const platforms::Spread& spread = {}) {
  platforms::FatTreeFamily family;
  family.shape = platforms::k_port_fat_tree(ports);
  family.oversubscription = std::move(oversubscription);
  family.spread = spread;
  return platforms::generate_fat_tree(family);
}
Platform fat_tree(const platforms::Spread& spread) {
  return fat_tree_of(8, {}, spread);
}
Platform dragonfly(const platforms::Spread& spread) {
  platforms::DragonflyFamily family;  // 72 hosts
  family.spread = spread;
  return platforms::generate_dragonfly(family);
}
Platform torus(const platforms::Spread& spread) {
  platforms::TorusFamily family;
  family.dimensions = {5, 5, 4};
  family.injection = family.bandwidth;
  family.spread = spread;
  return platforms::generate_torus(family);
}

Platform two_clusters(const platforms::Spread& spread) {
  platforms::TwoClustersFamily family;
  family.hosts = {40, 41};
  family.interleaved = true;
  family.spread = spread;
  return platforms::generate_two_clusters(family);
}
Platform regions() {
  platforms::MultiRegionFamily family;
  family.regions = 32;
  family.hosts = 4;
  return platforms::generate_multi_region(family);
}
Platform oversubscribed() {
  return fat_tree_of(12, {2, 4});
}

std::vector<lp::PackedTree> direct(const Instance& instance) {
  const lp::PackingProblem problem = packing_problem(instance);
  return lp::direct_trees(problem, lp::plain_bound(problem).rate, 0, Deadline());
}

// Whether or not trees are found that carry `rate`, in bytes per second.
void expect_no_overload(const Instance& instance, double rate) {
  SCOPED_TRACE(instance.platform().name() + ", " + std::to_string(rate) + " B/s");
  std::vector<double> loads(instance.resource_count(), 0.0);
  for (const lp::PackedTree& tree :
       lp::direct_trees(packing_problem(instance), rate, 0, Deadline())) {
    const std::vector<double> of_tree = instance.load_seconds_per_byte(tree.tree);
    for (std::size_t row = 0; row < loads.size(); ++row) loads[row] += tree.rate * of_tree[row];
  }
  for (const double load : loads) EXPECT_LE(load, 1 + 1e-8);
}

struct Fabric {
  std::string name;
  Platform (*make)(const platforms::Spread&);
};

class DirectTrees : public ::testing::TestWithParam<Fabric> {};

// The trees as a plan, which `verify` knows nothing about, against the bound of the packing.
// gap: what is missing at most.
void expect_best(const Platform& platform, Operation operation, std::string_view model,
                 double gap = 1e-6) {
  SCOPED_TRACE(platform.name() + ", " + std::string(model) + ", " +
               std::string(name_of(operation)));
  const Collective collective = collective_of(platform, "h0", operation, model);
  AlgorithmOptions options;
  options.gap = gap;
  const Outcome outcome = run(find_algorithm("optimal", operation), collective, options);
  EXPECT_EQ(outcome.iterations, 0U);  // no tree was priced
  const Plan plan = make_plan(collective, "optimal", outcome, kDefaultSegment);
  const VerifyReport report = verify(plan, platform);
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_NEAR(report.throughput.value / report.bound.value().value, 1, 2 * gap);
  EXPECT_LE(report.trees, operation == Operation::kAllreduce ? 16U : 8U);
  EXPECT_LE(report.out_degree, 4U);
  EXPECT_LE(static_cast<double>(report.depth),
            3 * std::log2(static_cast<double>(plan.nodes.size())));
}

TEST_P(DirectTrees, CarryTheBoundOfEqualHostsAndAreShallow) {
  const Platform platform = GetParam().make({});
  for (const char* const model : {"one-port", "bounded-multi-port"}) {
    for (const Operation operation : {Operation::kBroadcast, Operation::kReduce}) {
      expect_best(platform, operation, model);
    }
  }
}

TEST_P(DirectTrees, CarryTheBoundOfUnlikeHosts) {
  for (std::uint64_t seed = 1; seed <= draws(8); ++seed) {
    const Platform platform = GetParam().make(
        {.heterogeneity = 0.3, .slow = {{.share = 0.1, .factor = 4}}, .seed = seed});
    expect_best(platform, Operation::kBroadcast, "one-port");
    expect_best(platform, Operation::kReduce, "bounded-multi-port");
  }
}

// An allreduce reduces along the trees of its broadcast. Of n equal hosts 1/n is left over at the
// root.
TEST_P(DirectTrees, CarryAnAllreduceBothWays) {
  const Platform equal = GetParam().make({});
  const double hosts = static_cast<double>(equal.hosts().size());
  expect_best(equal, Operation::kAllreduce, "one-port", 1.0001 / (hosts - 1));
  for (std::uint64_t seed = 1; seed <= draws(4); ++seed) {
    const Platform platform =
        GetParam().make({.slow = {{.share = 0.1, .factor = 4}}, .seed = seed});
    expect_best(platform, Operation::kAllreduce, "bounded-multi-port");
  }
}

// With one port for both directions a host that receives everything has half of it to send.
TEST_P(DirectTrees, NeverOverloadAPortForBothDirections) {
  const Platform platform = GetParam().make({});
  const Instance instance = instance_of(platform, "h0", "one-port-unidirectional");
  for (const double share : {0.25, 0.5, 0.7}) expect_no_overload(instance, share * 1.25e9);
}

TEST_P(DirectTrees, AreTheSameEachTime) {
  const Platform platform = GetParam().make({});
  const Instance instance = instance_of(platform, "h0");
  const auto one = direct(instance);
  const auto two = direct(instance);
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].tree, two[i].tree);
}

TEST_P(DirectTrees, KeepWithinLimits) {
  const Platform platform = GetParam().make({});
  const Instance instance = instance_of(platform, "h0");
  const lp::PackingProblem problem = packing_problem(instance);
  const double rate = lp::plain_bound(problem).rate;
  EXPECT_LE(lp::direct_trees(problem, rate, 1, Deadline()).size(), 1U);
  EXPECT_LE(lp::direct_trees(problem, rate, 7, Deadline()).size(), 7U);
  EXPECT_THAT(lp::direct_trees(problem, rate, 0, Deadline(Seconds{0})), IsEmpty());
  EXPECT_THAT(lp::direct_trees(problem, 1.01 * rate, 0, Deadline()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Fabrics, DirectTrees,
                         ::testing::Values(Fabric{"star", star}, Fabric{"fat_tree", fat_tree},
                                           Fabric{"dragonfly", dragonfly}, Fabric{"torus", torus},
                                           Fabric{"two_clusters", two_clusters}),
                         [](const auto& test) { return test.param.name; });

// Thin links divide these in groups of equal hosts. Every tree enters every group once or a few
// times.
TEST(DirectTreesOfGroups, CarryTheBoundAndAreShallow) {
  for (const Platform& platform : {regions(), oversubscribed()}) {
    expect_best(platform, Operation::kBroadcast, "one-port");
    expect_best(platform, Operation::kReduce, "bounded-multi-port");
  }
}

// `bound` has the same trees, and prices none of its own.
TEST(DirectTreesOfGroups, ProveTheOptimum) {
  const Platform platform = oversubscribed();
  const Collective collective = collective_of(platform, "h0", Operation::kBroadcast, "one-port");
  const Outcome proof = prove_optimum(collective, {}, {});
  EXPECT_EQ(proof.iterations, 0U);
  ASSERT_TRUE(proof.bound);
  EXPECT_NEAR(throughput_of(proof).value / proof.bound->value, 1, 1e-9);
}

// On a fabric that is thinner than its hosts, what is found is feasible, or nothing is found.
TEST(DirectTreesOfThinFabrics, AreFeasibleOrNone) {
  for (const double ratio : {1.0, 2.0, 4.0}) {
    const Platform platform = fat_tree_of(8, {ratio, ratio});
    const Instance instance = instance_of(platform, "h0");
    for (const double share : {1.0, 0.5, 0.1}) expect_no_overload(instance, share * 1.25e9);
  }
}

// Which networks they are for.
TEST(DirectTreesOfOtherShapes, AreNotMade) {
  platforms::TorusFamily direct_torus;  // hosts linked to hosts
  direct_torus.dimensions = {10, 10};
  const Platform torus = platforms::generate_torus(direct_torus);
  EXPECT_THAT(direct(instance_of(torus, "h0")), IsEmpty());

  //   s ~ sw ~ a, and a second link  a ~ other
  platforms::PlatformBuilder builder("two links");
  const auto s = builder.node_named("s");
  const auto a = builder.node_named("a");
  platforms::Node relay;
  relay.relay = true;
  relay.name = "sw";
  const auto sw = builder.add_node(relay);
  relay.name = "other";
  const auto other = builder.add_node(relay);
  for (const auto& [from, to] : {std::pair(s, sw), {sw, a}, {a, other}, {other, sw}}) {
    builder.add_arc({from, to, {1e6}, {}, {}});
    builder.add_arc({to, from, {1e6}, {}, {}});
  }
  const Platform two_links = std::move(builder).build();
  EXPECT_THAT(direct(instance_of(two_links, "s")), IsEmpty());
}

}  // namespace
}  // namespace espalier::planner::direct_trees_test
