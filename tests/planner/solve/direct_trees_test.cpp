// Trees built directly over networks with switches: every load recomputed by `verify`, shallow, and
// as good as the packing's bound.
#include "lp/fabric/direct_trees.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <ranges>
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

// Nine racks of eight hosts, each linked to these switches of its rack, which all have a link of
// this bandwidth to a core switch.
Platform racks(const std::vector<std::string>& sides, double uplink_Bps) {
  constexpr int kRacks = 9;
  platforms::PlatformBuilder builder("racks");
  const auto add_relay = [&](const std::string& name) {
    platforms::Node relay;
    relay.relay = true;
    relay.name = name;
    return builder.add_node(relay);
  };
  const auto core = add_relay("core");
  for (const std::string& side : sides) {
    for (int rack = 0; rack < kRacks; ++rack) {
      const auto its = add_relay(side + std::to_string(rack));
      builder.add_both_ways({its, core, {uplink_Bps}, {}, {}});
      for (int host = 8 * rack; host < 8 * rack + 8; ++host) {
        builder.add_both_ways({builder.node_named("h" + std::to_string(host)), its, {1e9}, {}, {}});
      }
    }
  }
  return std::move(builder).build();
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
// gap: what is missing at most. depth: at most so many times the logarithm of the hosts.
void expect_best(const Platform& platform, Operation operation, std::string_view model,
                 double gap = 1e-6, double depth = 3) {
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
            depth * std::log2(static_cast<double>(plan.nodes.size())));
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

// As many hosts share an uplink as is usual.
TEST(DirectTreesOfGroups, AreShallowWhereRacksAreOversubscribed) {
  for (const double uplink_Bps : {1e9, 2e9, 3e9, 4e9, 5e9, 8e9}) {
    const Platform platform = racks({"switch"}, uplink_Bps);
    expect_best(platform, Operation::kBroadcast, "one-port");
    expect_best(platform, Operation::kAllreduce, "one-port", 1.0001 / 71);
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

// Every host has a link into each of these networks of switches, which have the same hosts, times
// these factors.
Platform rails(const Platform& rail, const std::vector<double>& factors,
               std::optional<BytesPerSecond> cap = {}) {
  platforms::PlatformBuilder builder("rails of " + rail.name());
  for (const platforms::NodeId host : rail.hosts()) {
    platforms::Node node = rail.node(host);
    node.send = cap;
    builder.add_node(std::move(node));
  }
  for (std::size_t rail_number = 0; rail_number < factors.size(); ++rail_number) {
    const auto name = [&](platforms::NodeId id) {
      const platforms::Node& node = rail.node(id);
      return node.relay ? node.name + "x" + std::to_string(rail_number) : node.name;
    };
    const auto ids = std::views::iota(0U, static_cast<std::uint32_t>(rail.nodes().size()));
    for (const std::uint32_t id : ids) {
      platforms::Node node = rail.node(platforms::NodeId{id});
      if (!node.relay) continue;
      node.name = name(platforms::NodeId{id});
      builder.add_node(std::move(node));
    }
    for (platforms::Arc arc : rail.arcs()) {
      arc.from = builder.node_named(name(arc.from));
      arc.to = builder.node_named(name(arc.to));
      arc.bandwidth.value *= factors[rail_number];
      builder.add_arc(arc);
    }
  }
  return std::move(builder).build();
}

// One link a plane; all of them carry more than one where ports are no narrower.
TEST(DirectTreesOfSeveralLinks, CarryTheBoundAndAreShallow) {
  for (const char* const model : {"one-port", "bounded-multi-port"}) {
    expect_best(rails(fat_tree({}), {1, 1}), Operation::kBroadcast, model);
    expect_best(rails(star({}), {1, 2.5}), Operation::kReduce, model);
    expect_best(rails(star({}), {1, 1}, BytesPerSecond{1.5e9}), Operation::kBroadcast, model);
    expect_best(racks({"left", "right"}, 3e9), Operation::kBroadcast, model);
  }
  expect_best(rails(star({}), {1, 1}), Operation::kAllreduce, "bounded-multi-port", 1.0001 / 99);
}

TEST(DirectTreesOfSeveralLinks, AreFeasibleOrNone) {
  const Platform unlike = rails(fat_tree({.heterogeneity = 0.3, .slow = {}}), {1, 0.5, 2});
  for (const char* const model : {"one-port", "one-port-unidirectional", "bounded-multi-port"}) {
    const Instance instance = instance_of(unlike, "h0", model);
    for (const double share : {1.0, 0.5, 0.1}) expect_no_overload(instance, share * 1.25e9);
  }
}

// Hosts that forward: four trees, in which each has four children altogether.
TEST(DirectTreesOfNeighbors, CarryTheBoundOfEqualHosts) {
  constexpr double kDepth = 6;  // of a torus, whose hosts are up to ten links apart
  platforms::TorusFamily family;
  for (const std::vector<std::size_t>& dimensions : {std::vector<std::size_t>{10, 10}, {6, 6, 3}}) {
    family.dimensions = dimensions;
    const Platform torus = platforms::generate_torus(family);
    const double hosts = static_cast<double>(torus.hosts().size());
    for (const Operation operation : {Operation::kBroadcast, Operation::kReduce}) {
      expect_best(torus, operation, "one-port", 1e-6, kDepth);
    }
    expect_best(torus, Operation::kAllreduce, "one-port", 1.0001 / (hosts - 1), kDepth);
    const Instance instance = instance_of(torus, "h0");
    EXPECT_EQ(direct(instance).size(), 4U);
    const double rate = lp::plain_bound(packing_problem(instance)).rate;
    EXPECT_THAT(lp::direct_trees(packing_problem(instance), rate, 3, Deadline()), IsEmpty());
    EXPECT_THAT(lp::direct_trees(packing_problem(instance), 1.01 * rate, 0, Deadline()), IsEmpty());
    EXPECT_THAT(lp::direct_trees(packing_problem(instance), rate, 0, Deadline(Seconds{0})),
                IsEmpty());
  }
}

TEST(DirectTreesOfNeighbors, AreFeasibleOrNone) {
  platforms::TorusFamily family;
  family.dimensions = {10, 10};
  for (std::uint64_t seed = 1; seed <= draws(4); ++seed) {
    family.spread = {.heterogeneity = 0.3, .slow = {}, .seed = seed};
    const Platform torus = platforms::generate_torus(family);
    for (const char* const model : {"one-port", "one-port-unidirectional", "multi-port"}) {
      const Instance instance = instance_of(torus, "h0", model);
      const double rate = lp::plain_bound(packing_problem(instance)).rate;
      for (const double share : {1.0, 0.7}) expect_no_overload(instance, share * rate);
    }
  }
}

// Hosts linked to hosts as well as to switches.
TEST(DirectTreesOfOtherShapes, AreNotMade) {
  const Platform mixed = testing::small_platform(
      {"s", "a", "sw"},
      {{"s", "sw", 1}, {"sw", "s", 1}, {"a", "sw", 1}, {"sw", "a", 1}, {"s", "a", 1}});
  EXPECT_THAT(direct(instance_of(mixed, "s")), IsEmpty());
}

}  // namespace
}  // namespace espalier::planner::direct_trees_test
