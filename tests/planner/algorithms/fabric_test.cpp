// `fabric`: direct trees as an algorithm by itself, on networks of any size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lp/fabric/clusters.hpp"
#include "lp/graph/tree_routes.hpp"
#include "planner/check/verify.hpp"
#include "planner/solve/make_plan.hpp"
#include "planner/solve/solve_packing.hpp"
#include "platforms/generators/generators.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"

namespace espalier::planner::fabric_test {
namespace {

using espalier::testing::collective_of;
using espalier::testing::Dice;
using espalier::testing::draws;
using espalier::testing::Link;
using espalier::testing::small_platform;
using platforms::NodeId;
using platforms::Platform;
using ::testing::IsEmpty;

constexpr double kTolerance = 1e-6;

Outcome fabric(const Collective& collective) {
  return run(find_algorithm("fabric", collective.operation()), collective, {});
}

// A plan that `verify` accepts, which knows nothing of how it was made.
void expect_valid(const Collective& collective, const Outcome& outcome) {
  const Plan plan = make_plan(collective, "fabric", outcome, kDefaultSegment);
  const VerifyReport report = verify(plan, collective.platform(), {.prove = false});
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_NEAR(report.busiest_load, 1, kTolerance);  // nothing could be scaled up
}

// Hosts at random switches, which a random tree and some further links connect, all of rates over
// two decades. unlike: the directions of a link differ.
Platform random_fabric(std::uint64_t seed, bool unlike) {
  Dice dice(seed);
  const std::uint64_t switches = dice.from_to(1, 5);
  const std::uint64_t hosts = dice.from_to(2, 12);
  std::vector<std::string> nodes;
  std::vector<Link> links;
  const auto link = [&](const std::string& from, const std::string& to) {
    const double there = dice.between(1, 100);
    links.push_back({from, to, there});
    links.push_back({to, from, unlike ? dice.between(1, 100) : there});
  };
  const auto name_of = [](std::uint64_t number) { return "sw" + std::to_string(number); };
  for (std::uint64_t i = 0; i < hosts; ++i) nodes.push_back("h" + std::to_string(i));
  for (std::uint64_t i = 0; i < switches; ++i) nodes.push_back(name_of(i));
  for (std::uint64_t i = 0; i < hosts; ++i) link(nodes[i], name_of(dice.below(switches)));
  for (std::uint64_t i = 1; i < switches; ++i) link(name_of(dice.below(i)), name_of(i));
  for (std::uint64_t i = 2; i < switches; ++i) {
    if (dice.chance(0.5)) link(name_of(0), name_of(i));
  }
  // Parallel links would be merged: of each pair the first is kept.
  std::vector<Link> once;
  for (const Link& one : links) {
    const bool known = std::ranges::any_of(
        once, [&](const Link& other) { return other.from == one.from && other.to == one.to; });
    if (!known) once.push_back(one);
  }
  return small_platform(nodes, once);
}

// The maximum flow from one node to another, by shortest augmenting paths. capacity: per ordered
// pair of nodes.
double max_flow(std::vector<std::vector<double>> capacity, std::size_t from, std::size_t to) {
  double flow = 0;
  for (;;) {
    std::vector<std::size_t> by(capacity.size(), SIZE_MAX);
    by[from] = from;
    std::deque<std::size_t> open{from};
    while (!open.empty() && by[to] == SIZE_MAX) {
      const std::size_t node = open.front();
      open.pop_front();
      for (std::size_t next = 0; next < capacity.size(); ++next) {
        if (by[next] != SIZE_MAX || capacity[node][next] <= 1e-12) continue;
        by[next] = node;
        open.push_back(next);
      }
    }
    if (by[to] == SIZE_MAX) return flow;
    double most = std::numeric_limits<double>::infinity();
    for (std::size_t node = to; node != from; node = by[node]) {
      most = std::min(most, capacity[by[node]][node]);
    }
    for (std::size_t node = to; node != from; node = by[node]) {
      capacity[by[node]][node] -= most;
      capacity[node][by[node]] += most;
    }
    flow += most;
  }
}

double least_max_flow(const Platform& platform, NodeId source) {
  std::vector<std::vector<double>> capacity(platform.nodes().size(),
                                            std::vector<double>(platform.nodes().size(), 0));
  for (const platforms::Arc& arc : platform.arcs()) {
    capacity[index_of(arc.from)][index_of(arc.to)] = arc.bandwidth.value;
  }
  double least = std::numeric_limits<double>::infinity();
  for (const NodeId host : platform.hosts()) {
    if (host == source) continue;
    least = std::min(least, max_flow(capacity, index_of(source), index_of(host)));
  }
  return least;
}

TEST(Fabric, IsValidAndBelowTheBoundOnAnyFabric) {
  for (std::uint64_t seed = 1; seed <= draws(8); ++seed) {
    const Platform platform = random_fabric(seed, seed % 2 == 0);
    for (const char* const model : {"one-port", "bounded-multi-port", "one-port-unidirectional"}) {
      for (const Operation operation : kOperations) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + model + ", " +
                     std::string(name_of(operation)));
        const Collective collective = collective_of(platform, "h0", operation, model);
        const Outcome outcome = fabric(collective);
        expect_valid(collective, outcome);
        const Outcome proof = prove_optimum(collective, {});
        EXPECT_LE(throughput_of(outcome).value, proof.bound->value * (1 + kTolerance));
        if (outcome.bound) {
          EXPECT_GE(outcome.bound->value, throughput_of(proof).value * (1 - kTolerance));
        }
      }
    }
  }
}

// docs/model.md, "Networks with switches": where each host has one link and links carry as much in
// both directions, the optimum of a broadcast is the least of the maximum flows.
TEST(Fabric, TheOptimumIsTheLeastMaximumFlowWhereLinksAreAlikeInBothDirections) {
  for (std::uint64_t seed = 1; seed <= draws(20); ++seed) {
    const Platform platform = random_fabric(seed, false);
    for (const char* const model : {"one-port", "bounded-multi-port"}) {
      const Collective collective = collective_of(platform, "h0", Operation::kBroadcast, model);
      EXPECT_NEAR(throughput_of(prove_optimum(collective, {})).value /
                      least_max_flow(platform, collective.source()),
                  1, 1e-5)
          << "seed " << seed << ", " << model;
    }
  }
}

// Otherwise it may be less: hosts' links out must carry everything to all but one of them.
TEST(Fabric, TheOptimumIsBelowTheMaximumFlowWhereLinksOutAreThin) {
  std::vector<Link> links;
  for (const std::string host : {"a", "b", "c", "d"}) {
    links.push_back({host, "sw", host == "a" ? 1.0 : 10.0});
    links.push_back({"sw", host, 1.0});
  }
  const Platform platform = small_platform({"a", "b", "c", "d", "sw"}, links);
  const Collective collective = collective_of(platform, "a");
  EXPECT_NEAR(least_max_flow(platform, collective.source()), 1, kTolerance);
  EXPECT_NEAR(throughput_of(prove_optimum(collective, {})).value, 1.3 / 3, kTolerance);
}

platforms::Platform oversubscribed_fat_tree(std::vector<double> factors) {
  platforms::FatTreeFamily family;
  family.shape = platforms::k_port_fat_tree(8);
  family.oversubscription = std::move(factors);
  return platforms::generate_fat_tree(family);
}

// All links into a rack are full there, and all hosts: what they carry must be divided exactly.
TEST(Fabric, ReachesTheBoundWhereRacksSendAsMuchAsOneHost) {
  constexpr std::size_t kDepth = 21;  // 3 log2 of the number of hosts
  for (const double above : {1.0, 2.0}) {
    SCOPED_TRACE(above);
    const Platform platform = oversubscribed_fat_tree({4, above});
    const Collective collective = collective_of(platform, "h0");
    const Outcome outcome = fabric(collective);
    expect_valid(collective, outcome);
    ASSERT_TRUE(outcome.bound.has_value());
    EXPECT_NEAR(throughput_of(outcome).value / outcome.bound->value, 1, kTolerance);
    EXPECT_EQ(outcome.trees.size(), 8);
    const auto problem = packing_problem(*collective.broadcast());
    for (const WeightedTree& tree : outcome.trees) {
      EXPECT_LE(lp::depth_of(problem.graph, problem.root, tree.tree), kDepth);
    }
  }
}

TEST(Clusters, AreRacksInPods) {
  const Platform platform = oversubscribed_fat_tree({4, 2});
  const Collective collective = collective_of(platform, "h5");
  const auto problem = packing_problem(*collective.broadcast());
  const double rate = platform.arc(platforms::ArcId{0}).bandwidth.value;
  const auto fabric = lp::fabric_tree(problem, rate);
  ASSERT_TRUE(fabric.has_value());
  const lp::Clusters clusters(problem, *fabric, fabric->hosts, rate, lp::Nesting::kAll);
  const std::uint32_t whole = clusters.end() - 1;
  ASSERT_EQ(clusters.members(whole).size(), 8);
  EXPECT_EQ(clusters.rate_out(whole), 0);
  std::set<std::uint32_t> hosts;
  for (const std::uint32_t pod : clusters.members(whole)) {
    ASSERT_EQ(clusters.members(pod).size(), 4);
    EXPECT_NEAR(clusters.rate_out(pod) / rate, 2, kTolerance);
    for (const std::uint32_t rack : clusters.members(pod)) {
      EXPECT_NEAR(clusters.rate_out(rack) / rate, 1, kTolerance);
      const auto& members = clusters.members(rack);
      EXPECT_EQ(members.size(), 4);
      hosts.insert(members.begin(), members.end());
    }
  }
  EXPECT_EQ(hosts.size(), 128);
  std::uint32_t first = whole;  // the root is the first of the first of the first
  for (; first >= clusters.first(); first = clusters.members(first).front()) {
    EXPECT_TRUE(clusters.has_root(first));
  }
  EXPECT_EQ(first, problem.root);
}

TEST(Fabric, GivesAsManyTreesAsAllowed) {
  const Platform platform = platforms::generate_fat_tree({});
  for (const Operation operation : kOperations) {
    const Collective collective = collective_of(platform, "h0", operation);
    for (const std::size_t count : {1, 2, 9}) {
      const Outcome outcome =
          run(find_algorithm("fabric", operation), collective, testing::at_most(count));
      EXPECT_LE(outcome.trees.size(), count);
      EXPECT_LE(outcome.reduce_trees.size(), count);
      expect_valid(collective, outcome);
    }
  }
}

std::string refusal_on(const Platform& platform, Operation operation = Operation::kBroadcast) {
  try {
    static_cast<void>(fabric(collective_of(platform, "s", operation)));
  } catch (const InfeasibleError& fault) {
    return fault.what();
  }
  return "none";
}

TEST(Fabric, SaysWhichHostIsOfAnotherKind) {
  const std::string end = "; use 'optimal'";
  const std::string start = "small: algorithm 'fabric': ";
  const std::vector<Link> star{{"s", "sw", 1}, {"sw", "s", 1}, {"a", "sw", 1}, {"sw", "a", 1}};
  const auto with = [&](std::vector<Link> more) {
    more.insert(more.begin(), star.begin(), star.end());
    return more;
  };
  EXPECT_EQ(refusal_on(small_platform({"s", "a", "sw"}, star)), "none");
  for (const Operation operation : kOperations) {
    EXPECT_EQ(refusal_on(small_platform({"s", "a"}, {{"s", "a", 1}, {"a", "s", 1}}), operation),
              start + "host 's' is not linked to a switch" + end);
  }
  const auto two_links =
      with({{"a", "sw2", 1}, {"sw2", "a", 1}, {"sw", "sw2", 1}, {"sw2", "sw", 1}});
  EXPECT_EQ(refusal_on(small_platform({"s", "a", "sw", "sw2"}, two_links)), "none");
  EXPECT_EQ(refusal_on(small_platform({"s", "a", "b", "sw"}, with({{"sw", "b", 1}}))),
            start + "the link of host 'b' to its switch is not of both directions" + end);
  EXPECT_EQ(refusal_on(small_platform({"s", "a", "b", "sw", "sw2"},
                                      with({{"sw", "sw2", 1}, {"sw2", "b", 1}, {"b", "sw2", 1}}))),
            start + "no links of both directions lead to host 'b'" + end);
}

}  // namespace
}  // namespace espalier::planner::fabric_test
