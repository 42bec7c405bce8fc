// Cuts that are the bound, by name.
#include "planner/explain/binding_cuts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "planner/solve/solve_packing.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::binding_cuts_test {
namespace {

using espalier::testing::collective_of;
using espalier::testing::small_platform;
using platforms::Platform;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> cuts_of(const Collective& collective) {
  std::vector<std::string> sentences;
  for (const BindingCut& cut : binding_cuts(collective, prove_optimum(collective, {}), 10)) {
    sentences.push_back(sentence_of(cut));
  }
  return sentences;
}

// Two clusters of 3 and 5 hosts with links of 1 Gbit/s, 100 Mbit/s between their switches.
Platform two_clusters(bool half_duplex = false) {
  platforms::TwoClustersFamily family;
  family.hosts = {3, 5};
  family.half_duplex = half_duplex;
  return platforms::generate_two_clusters(family);
}

TEST(BindingCuts, NameTheGroupBehindThem) {
  const Platform platform = two_clusters();
  const std::string group = platform.node(platform.hosts().back()).group;
  ASSERT_FALSE(group.empty());
  EXPECT_THAT(cuts_of(collective_of(platform, "h0")),
              ElementsAre("the link into " + group + " carries 100.0000 Mbit/s for 5 hosts"));
  EXPECT_THAT(cuts_of(collective_of(platform, "h0", Operation::kReduce)),
              ElementsAre("the link out of " + group + " carries 100.0000 Mbit/s for 5 hosts"));
  EXPECT_THAT(cuts_of(collective_of(platform, "h0", Operation::kAllreduce)),
              ElementsAre("the link into " + group + " carries 100.0000 Mbit/s for 5 hosts",
                          "the link out of " + group + " carries 100.0000 Mbit/s for 5 hosts"));
}

// The source is alone on its side of the thin link.
TEST(BindingCuts, NameTheSourceWhereItIsAloneOnItsSide) {
  const Platform platform =
      small_platform({"s", "a", "b", "c", "sw", "sw2", "sw3"}, {{"s", "sw", 1},
                                                                {"sw", "s", 1},
                                                                {"a", "sw2", 1},
                                                                {"sw2", "a", 1},
                                                                {"b", "sw2", 1},
                                                                {"sw2", "b", 1},
                                                                {"c", "sw3", 1},
                                                                {"sw3", "c", 1},
                                                                {"sw", "sw2", 4},
                                                                {"sw2", "sw", 4},
                                                                {"sw2", "sw3", 1},
                                                                {"sw3", "sw2", 1}});
  EXPECT_THAT(cuts_of(collective_of(platform, "s")),
              ElementsAre("the link out of s carries 2.0000 bit/s for 3 hosts"));
}

TEST(BindingCuts, NameEachHostWhereAllAreAlike) {
  platforms::StarFamily family;
  family.hosts = 6;
  const Platform platform = platforms::generate_star(family);
  EXPECT_THAT(cuts_of(collective_of(platform, "h0")),
              ElementsAre("the link out of h0 carries 1.0000 Gbit/s for 5 hosts",
                          "the links into each of 5 hosts carry 1.0000 Gbit/s"));
}

TEST(BindingCuts, AreNoneWhereNoCutIsTheBound) {
  platforms::StarFamily family;  // what all hosts send together is too little
  family.hosts = 4;
  family.bandwidth = {{400}};
  family.upload = {{300}, {100}};
  EXPECT_THAT(cuts_of(collective_of(platforms::generate_star(family), "h0", Operation::kBroadcast,
                                    "bounded-multi-port")),
              IsEmpty());
}

// What the links of a cut carry is never less than the optimum, for no plan can do without them.
TEST(BindingCuts, CarryTheOptimumAndAreCrossedByEveryTree) {
  for (const Operation operation : kOperations) {
    testing::for_each_platform(
        operation, 3, 14, platforms::Model::kOnePort,
        [&](const testing::DrawnPlatform& drawn, const std::string& trace) {
          SCOPED_TRACE(trace);
          const Collective collective = drawn.under(platforms::Model::kOnePort, operation);
          const Outcome proof = prove_optimum(collective, {});
          for (const BindingCut& cut : binding_cuts(collective, proof, 10)) {
            EXPECT_NEAR(cut.rate.value / throughput_of(proof).value, 1, 2e-4) << cut.name;
            EXPECT_GE(cut.hosts, 1U);
            if (cut.each) continue;
            const auto is_crossed = [&](const WeightedTree& tree) {
              return std::ranges::any_of(tree.tree.arcs, [&](std::uint32_t arc) {
                return std::ranges::count(cut.links, platforms::ArcId{arc}) > 0;
              });
            };
            if (operation == Operation::kAllreduce) continue;  // the trees of either half
            const auto& trees = operation == Operation::kReduce ? proof.reduce_trees : proof.trees;
            EXPECT_TRUE(std::ranges::all_of(trees, is_crossed)) << cut.name;
          }
        });
  }
}

}  // namespace
}  // namespace espalier::planner::binding_cuts_test
