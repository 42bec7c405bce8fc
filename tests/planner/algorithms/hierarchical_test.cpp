// Leaders and renumbered ranks. The text of a tree lists its edges in their order.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "planner/algorithms/sub_problem.hpp"
#include "planner/problem/host_groups.hpp"
#include "planner/registry.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"

namespace espalier::planner::hierarchical_test {
namespace {

using namespace espalier::testing;
using espalier::testing::run;
using platforms::NodeId;
using platforms::Platform;

// The same platform with other groups.
Platform regrouped(const Platform& platform, const std::vector<std::string>& groups) {
  platforms::PlatformBuilder builder(platform.name());
  for (std::size_t i = 0; i < platform.nodes().size(); ++i) {
    platforms::Node node = platform.nodes()[i];
    node.group = groups[i];
    builder.add_node(node);
  }
  for (const platforms::Arc& arc : platform.arcs()) builder.add_arc(arc);
  return std::move(builder).build();
}

// TAC 1.1.4: eight processes, two on each of four nodes, assigned to nodes 1, 3, 2, 4, 1, 3, 2, 4;
// nodes 1 and 2 are group A, 3 and 4 group B.
Platform eight_processes() {
  return regrouped(complete_platform(8, 1e8),
                   {"A/1", "B/3", "A/2", "B/4", "A/1", "B/3", "A/2", "B/4"});
}

std::string eight(std::string_view algorithm, std::string_view source = "n0") {
  const Platform platform = eight_processes();
  return tree_text(algorithm, instance_of(platform, source));
}

TEST(Reorder, MakesTheRanksOfTheTacExample) {
  // On nodes 1 1 2 2 3 3 4 4.
  EXPECT_EQ(eight("reorder:chain"), "n0>n4 n4>n2 n2>n6 n6>n1 n1>n5 n5>n3 n3>n7");
  // One send crosses the groups, two more cross nodes within groups.
  EXPECT_EQ(eight("reorder"), "n0>n1 n0>n2 n0>n4 n2>n6 n1>n3 n1>n5 n3>n7");
  EXPECT_EQ(eight("reorder:binomial"), eight("reorder"));
}

TEST(Reorder, CountsFromTheSource) {
  // From n5: 5 6 7 0 1 2 3 4, of which 5 7 1 3 are in B and 5 1 on node 3.
  EXPECT_EQ(eight("reorder:chain", "n5"), "n5>n1 n1>n7 n7>n3 n3>n6 n6>n2 n2>n0 n0>n4");
}

//            n0                 leaders of A and B, then of the nodes in A, then inside the nodes
//          / |  \ .
//        n1  n2  n4
TEST(Hierarchical, HasLeadersAtEveryLevel) {
  EXPECT_EQ(eight("hierarchical:chain"), "n0>n1 n0>n2 n0>n4 n2>n6 n1>n3 n1>n5 n3>n7");
  EXPECT_EQ(eight("hierarchical-node:chain"), "n0>n1 n1>n2 n2>n3 n0>n4 n1>n5 n2>n6 n3>n7");
  EXPECT_EQ(eight("hierarchical-group:chain"), "n0>n1 n0>n2 n2>n4 n4>n6 n1>n3 n3>n5 n5>n7");
  EXPECT_EQ(eight("hierarchical-group"), "n0>n1 n0>n4 n0>n2 n4>n6 n1>n5 n1>n3 n5>n7");
}

TEST(Hierarchical, TheSourceLeadsAllItsGroups) {
  EXPECT_EQ(eight("hierarchical:chain", "n6"), "n6>n1 n6>n0 n0>n4 n6>n2 n1>n3 n1>n5 n3>n7");
  EXPECT_EQ(eight("hierarchical-node:flat", "n6"), "n6>n0 n6>n1 n6>n3 n0>n4 n1>n5 n6>n2 n3>n7");
}

TEST(Hierarchical, AFlatGroupIsOneLevel) {
  const Platform platform = regrouped(complete_platform(5, 1e8), {"x", "y", "x", "y", "x"});
  const Instance instance = instance_of(platform, "n0");
  for (const char* name : {"hierarchical", "hierarchical-node", "hierarchical-group"}) {
    EXPECT_EQ(tree_text(std::string(name) + ":chain", instance), "n0>n1 n0>n2 n2>n4 n1>n3");
  }
}

TEST(Hierarchical, AHostWithoutAGroupIsItsOwnLeader) {
  const Platform platform = regrouped(complete_platform(5, 1e8), {"x", "", "x/1", "", "x"});
  const Instance instance = instance_of(platform, "n1");
  EXPECT_EQ(tree_text("hierarchical:chain", instance), "n1>n3 n3>n0 n0>n2 n2>n4");
  EXPECT_EQ(tree_text("hierarchical-node:chain", instance), "n1>n2 n2>n3 n3>n0 n0>n4");
}

TEST(Hierarchical, OneGroupIsTheInnerTree) {
  for (const std::vector<std::string>& groups :
       {std::vector<std::string>(6, "x/y"), std::vector<std::string>(6, "")}) {
    const Platform platform = regrouped(complete_platform(6, 1e8), groups);
    for (const char* source : {"n0", "n4"}) {
      const Instance instance = instance_of(platform, source);
      for (const std::string inner : {"binomial", "chain", "grow", "ecef"}) {
        for (const char* outer :
             {"hierarchical", "hierarchical-node", "hierarchical-group", "reorder"}) {
          // Grow and ecef break ties by number, and renumbering changes the numbers.
          if (outer == std::string("reorder") && (inner == "grow" || inner == "ecef")) continue;
          EXPECT_EQ(tree_text(fmt::format("{}:{}", outer, inner), instance),
                    tree_text(inner, instance))
              << outer << ':' << inner << " from " << source;
        }
      }
    }
  }
}

TEST(Hierarchical, WithoutGroupsUsesTheBandwidths) {
  const Platform told = sample_platform("two-clusters-thin-link.json");
  const Platform untold = regrouped(told, std::vector<std::string>(told.nodes().size()));
  for (const char* name : {"hierarchical", "hierarchical:chain", "reorder", "hierarchical:grow"}) {
    EXPECT_EQ(tree_text(name, instance_of(untold, "lyon-3")),
              tree_text(name, instance_of(told, "lyon-3")))
        << name;
  }
}

//   a --1--> b --1--> c        a and c are one group: a's path to c leads through b
TEST(Hierarchical, OutsideHostsAreWayPointsOnlyWhereNeeded) {
  const Platform platform =
      regrouped(small_platform({"a", "b", "c"}, {{"a", "b", 1}, {"b", "c", 1}}), {"x", "y", "x"});
  const Instance instance = instance_of(platform, "a");
  EXPECT_EQ(tree_text("hierarchical", instance), "a>b a>b>c");
  EXPECT_EQ(tree_text("hierarchical:grow", instance), "a>b a>b>c");
}

//   a --1--> b --1--> c        the same, but with a slow link within the group, which is used
//    \______9________^
TEST(Hierarchical, StaysWithinTheGroupWherePossible) {
  const Platform platform =
      regrouped(small_platform({"a", "b", "c"}, {{"a", "b", 1}, {"b", "c", 1}, {"a", "c", 9}}),
                {"x", "y", "x"});
  EXPECT_EQ(tree_text("hierarchical:grow", instance_of(platform, "a")), "a>b a>c");
}

//      s                x, y, z are one group, but x cannot send: it leads only itself, and y
//     / \               leads y and z.
//    v   v
//    x   y --> z
TEST(Hierarchical, ALeaderLeadsOnlyTheHostsThatItReaches) {
  const Platform platform =
      regrouped(small_platform({"s", "x", "y", "z"}, {{"s", "x", 1}, {"s", "y", 1}, {"y", "z", 1}}),
                {"", "g", "g", "g"});
  const Instance instance = instance_of(platform, "s");
  EXPECT_EQ(tree_text("hierarchical:chain", instance), "s>x s>y y>z");
  EXPECT_EQ(tree_text("hierarchical:grow", instance), "s>x s>y y>z");
}

TEST(Hierarchical, RelaysBelongToEveryGroup) {
  const Platform platform = regrouped(small_platform({"a", "b", "c", "sw"}, {{"a", "sw", 1},
                                                                             {"b", "sw", 1},
                                                                             {"c", "sw", 1},
                                                                             {"sw", "a", 1},
                                                                             {"sw", "b", 1},
                                                                             {"sw", "c", 1}}),
                                      {"x", "y", "x", ""});
  EXPECT_EQ(tree_text("hierarchical:grow", instance_of(platform, "a")), "a>sw>b a>sw>c");
}

// On a fully connected network each group is entered once, whatever the inner algorithm.
TEST(Hierarchical, EveryGroupIsEnteredOnce) {
  Dice dice(7);
  for (int round = 0; round < 30; ++round) {
    const std::size_t hosts = dice.from_to(2, 20);
    std::vector<std::string> groups;
    for (std::size_t i = 0; i < hosts; ++i) {
      groups.push_back(fmt::format("s{}/r{}", dice.below(3), dice.below(3)));
    }
    const Platform platform = regrouped(complete_platform(hosts, 1e8), groups);
    const Instance instance = instance_of(platform, fmt::format("n{}", dice.below(hosts)));
    const HostGroups paths = host_groups(platform, GroupLevels::kAll);
    for (const char* name : {"hierarchical", "hierarchical:chain", "hierarchical:grow",
                             "hierarchical:prune-simple", "reorder:chain"}) {
      const lp::RoutedTree tree = run(name, instance).trees[0].tree;
      for (std::size_t level = 0; level < 2; ++level) {
        std::set<std::uint32_t> all;
        for (const auto& path : paths) all.insert(path[level]);
        std::size_t entered = 0;
        for (const std::uint32_t arc : tree.arcs) {
          const platforms::Arc& hop = platform.arcs()[arc];
          if (paths[index_of(hop.from)][level] != paths[index_of(hop.to)][level]) ++entered;
        }
        EXPECT_EQ(entered, all.size() - 1) << name << ", round " << round << ", level " << level;
      }
    }
  }
}

class OverInner : public ::testing::TestWithParam<std::string> {
 protected:
  static platforms::Model model() { return platforms::parse_model(GetParam()); }
};

TEST_P(OverInner, EveryPairOfAlgorithmsSpansEveryPlatform) {
  for_each_platform(
      espalier::testing::draws(2), 14, model(),
      [](const DrawnPlatform& drawn, const std::string& trace) {
        const Instance instance = drawn.under(model());
        const PlainModel plain(instance);
        for (const AlgorithmEntry& outer : algorithms()) {
          if (!outer.takes_inner()) continue;
          for (const AlgorithmEntry& inner : algorithms()) {
            if (inner.takes_inner() || (inner.several_trees && !inner.joins_trees)) continue;
            SCOPED_TRACE(fmt::format("{}, {}:{}", trace, outer.name, inner.name));
            const Outcome outcome = outer.run_over(instance, {}, inner.run);
            ASSERT_EQ(outcome.trees.size(), inner.several_trees ? 2U : 1U);
            std::vector<double> load(instance.resource_count(), 0.0);
            for (const WeightedTree& tree : outcome.trees) {
              EXPECT_EQ(tree_fault(instance, tree.tree, true), "");
              EXPECT_EQ(tree.rate.value, outcome.trees[0].rate.value);
              const std::vector<double> more = instance.load_seconds_per_byte(tree.tree);
              for (std::size_t i = 0; i < load.size(); ++i) load[i] += tree.rate.value * more[i];
            }
            EXPECT_NEAR(*std::max_element(load.begin(), load.end()), 1, 1e-6);
            if (outcome.trees.size() > 1) continue;
            EXPECT_NEAR(outcome.trees[0].rate.value / plain.throughput(outcome.trees[0].tree), 1,
                        1e-6);
          }
        }
      });
}

// A part with all hosts equals the whole, although its nodes and arcs have other numbers.
TEST_P(OverInner, AllHostsInAnotherOrderAreTheSameProblem) {
  for_each_platform(5, 12, model(), [](const DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    const Instance whole = drawn.under(model());
    std::vector<NodeId> members(drawn.platform.hosts().begin(), drawn.platform.hosts().end());
    std::reverse(members.begin(), members.end());
    const SubProblem part(whole, members, drawn.source);
    const Outcome outcome = run("grow", part.instance());
    lp::RoutedTree tree;
    part.add_to(tree, outcome.trees[0].tree);
    EXPECT_EQ(tree_fault(whole, tree, false), "");
    EXPECT_NEAR(outcome.trees[0].rate.value / PlainModel(whole).throughput(tree), 1, 1e-9);
  });
}

INSTANTIATE_TEST_SUITE_P(Models, OverInner, ::testing::ValuesIn(model_names()),
                         [](const auto& instance) { return case_name(instance.param); });

//   b <--1-- a --10--> c       in the part {a, c}, a still needs 0.8 s for each byte sent
TEST(SubProblem, KeepsTheSendTimeUnderMultiPort) {
  const Platform platform = small_platform({"a", "b", "c"}, {{"a", "b", 1}, {"a", "c", 10}});
  const Instance whole = instance_of(platform, "a", "multi-port");
  const std::vector<NodeId> members{NodeId{0}, NodeId{2}};
  const SubProblem part(whole, members, NodeId{0});
  const lp::RoutedTree tree = run("flat", part.instance()).trees[0].tree;
  EXPECT_THAT(part.instance().load_seconds_per_byte(tree),
              ::testing::UnorderedElementsAre(0.8, 10));
}

TEST(SubProblem, RefusesAMemberThatCannotBeReached) {
  const Platform platform = small_platform({"a", "b", "c"}, {{"a", "b", 1}, {"b", "c", 1}});
  const Instance whole = instance_of(platform, "a");
  const std::vector<NodeId> members{NodeId{0}, NodeId{2}};
  EXPECT_THROW(SubProblem(whole, members, NodeId{0}), InfeasibleError);
  const std::vector<NodeId> way_points{NodeId{1}};
  const SubProblem part(whole, members, NodeId{0}, way_points);
  EXPECT_EQ(tree_text("flat", part.instance()), "a>b>c");
  EXPECT_EQ(part.instance().host_count(), 2U);
}

}  // namespace
}  // namespace espalier::planner::hierarchical_test
