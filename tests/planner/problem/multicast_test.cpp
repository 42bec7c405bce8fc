// Broadcasts to some of the hosts.
#include "planner/problem/multicast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "planner/check/plan_on_platform.hpp"
#include "planner/check/verify.hpp"
#include "planner/problem/collective.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::planner::multicast_test {
namespace {

using espalier::testing::Link;
using espalier::testing::refusal;
using espalier::testing::small_platform;
using platforms::NodeId;
using platforms::Platform;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A sender with 25 GB/s outside, three mates behind links of 150 GB/s within its node, each with 25
// GB/s outside, and 16 receivers of 100 GB/s.
Platform gpu_node() {
  std::vector<std::string> nodes{"s", "m1", "m2", "m3", "switch"};
  std::vector<Link> links;
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      if (a != b) links.push_back({nodes[a], nodes[b], 1 / 150e9});
    }
    links.push_back({nodes[a], "switch", 1 / 25e9});
    links.push_back({"switch", nodes[a], 1 / 25e9});
  }
  for (int i = 1; i <= 16; ++i) {
    nodes.push_back("r" + std::to_string(i));
    links.push_back({nodes.back(), "switch", 1 / 100e9});
    links.push_back({"switch", nodes.back(), 1 / 100e9});
  }
  return small_platform(nodes, links);
}

std::vector<NodeId> named(const Platform& platform, const std::vector<std::string>& names) {
  std::vector<NodeId> nodes;
  for (const std::string& name : names) nodes.push_back(*platform.find_node(name));
  return nodes;
}

std::vector<NodeId> receivers_of_gpu_node(const Platform& platform) {
  std::vector<std::string> names;
  for (int i = 1; i <= 16; ++i) names.push_back("r" + std::to_string(i));
  return named(platform, names);
}

Plan plan_with(const Platform& whole, const std::vector<std::string>& to,
               const std::vector<std::string>& helpers,
               platforms::Model model = platforms::Model::kOnePort,
               std::string_view algorithm = "optimal") {
  const NodeId source = *whole.find_node("s");
  const std::vector<NodeId> receivers =
      to.empty() ? receivers_of_gpu_node(whole) : named(whole, to);
  const Platform part = part_for(whole, model, {}, source, receivers, named(whole, helpers));
  std::vector<NodeId> on_part;
  for (const NodeId node : receivers) on_part.push_back(*part.find_node(whole.node(node).name));
  const Multicast problem(part, *part.find_node("s"), on_part, model);
  const Algorithm chosen = find_algorithm(algorithm);
  return make_plan(problem, chosen.name, run(chosen, problem, {}), kDefaultSegment);
}

TEST(Multicast, HelpersQuadrupleWhatASlowSenderReaches) {
  const Platform platform = gpu_node();
  const auto rate_with = [&](const std::vector<std::string>& helpers) {
    const Plan plan = plan_with(platform, {}, helpers, platforms::Model::kBoundedMultiPort);
    EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
    EXPECT_NEAR(plan.optimum.value().value, plan.throughput.value, 1e-5 * plan.throughput.value);
    return plan.throughput.value;
  };
  EXPECT_NEAR(rate_with({}), 25e9, 1e5);
  EXPECT_NEAR(rate_with({"m2"}), 50e9, 1e5);
  EXPECT_NEAR(rate_with({"m1", "m2", "m3"}), 100e9, 1e5);
}

// s sends to a and b over h, which needs nothing, faster than by itself; x is of no use.
Platform with_hub() {
  return small_platform({"s", "h", "a", "b", "x"}, {{"s", "h", 1},
                                                    {"h", "a", 1},
                                                    {"h", "b", 0.5},
                                                    {"s", "a", 2},
                                                    {"s", "b", 2},
                                                    {"h", "x", 3},
                                                    {"x", "a", 9}});
}

TEST(Multicast, PlanHasTheHostsThatTakePart) {
  const Platform platform = with_hub();
  const Plan plan = plan_with(platform, {"a", "b"}, {"h", "x"});
  EXPECT_THAT(plan.nodes, ElementsAre("s", "h", "a", "b"));
  EXPECT_EQ(plan.source, "s");
  ASSERT_THAT(plan.blocks, SizeIs(1));
  EXPECT_THAT(plan.blocks.front().members, ElementsAre(2, 3));
  EXPECT_TRUE(plan.has_helpers());
  const Plan again = parse_plan(to_json(plan), "plan", Roots::kAny);
  EXPECT_EQ(to_json(again), to_json(plan));
  EXPECT_EQ(again.source, "s");
  EXPECT_THAT(refusal([&] { parse_plan(to_json(plan), "plan"); }),
              HasSubstr("plan: /blocks: this command does not take plans for a broadcast with "
                        "helpers yet"));
  const VerifyReport report = verify(plan, platform);
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_NEAR(report.bound.value().value, plan.throughput.value, 1e-5);
}

TEST(Multicast, IsABroadcastWhereNobodyHelps) {
  const Platform platform = with_hub();
  const Plan plan = plan_with(platform, {"a", "b"}, {});
  EXPECT_THAT(plan.nodes, ElementsAre("s", "a", "b"));
  EXPECT_TRUE(plan.has_one_root());
  EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
  // As are the plans of all other algorithms, which ask nobody for help.
  const Plan chain =
      plan_with(platform, {"a", "b"}, {"h", "x"}, platforms::Model::kOnePort, "flat");
  EXPECT_TRUE(chain.has_one_root());
  EXPECT_FALSE(chain.optimum);
  EXPECT_NEAR(chain.throughput.value, 0.25, 1e-12);
}

// What `fault` changes in the plan with a helper, as verify reports it.
template <class Change>
std::string fault_after(const Change& change) {
  const Platform platform = with_hub();
  Plan plan = plan_with(platform, {"a", "b"}, {"h", "x"});
  change(plan);
  const VerifyReport report = verify(plan, platform, {.prove = false});
  return report.faults.empty() ? "none" : report.faults.front();
}

TEST(Multicast, FaultsAreFound) {
  EXPECT_EQ(fault_after([](Plan& plan) {
              std::erase_if(plan.blocks[0].trees[0].edges,
                            [](const PlanEdge edge) { return edge.child == 2; });
              plan.blocks[0].trees[0].latencies.clear();
            }),
            "/blocks/0/trees/0/edges: node 'a' is missing: no edge leads to it");
  EXPECT_THAT(fault_after([](Plan& plan) {
                std::vector<PlanEdge>& edges = plan.blocks[0].trees[0].edges;
                edges = {{1, 2}, {1, 3}};
              }),
              HasSubstr("no edge leads to node 'h', which sends"));
  EXPECT_THAT(fault_after([](Plan& plan) {
                std::vector<PlanEdge>& edges = plan.blocks[0].trees[0].edges;
                edges = {{0, 3}, {1, 2}, {2, 1}};
              }),
              HasSubstr("cycle"));
  EXPECT_THAT(fault_after([](Plan& plan) { plan.blocks[0].share = 0.5; }),
              HasSubstr("/blocks/0/share: the only block has the whole message"));
  EXPECT_THAT(fault_after([](Plan& plan) {
                plan.blocks[0].members = {2, 2};
              }),
              HasSubstr("/blocks/0/members: a member is named once"));
  EXPECT_THAT(fault_after([](Plan& plan) { plan.blocks.push_back(plan.blocks[0]); }),
              HasSubstr("a broadcast has one block"));
  EXPECT_THAT(fault_after([](Plan& plan) { plan.source = "h"; }),
              HasSubstr("/source: it is 'h', and the block's root 's'"));
  EXPECT_THAT(fault_after([](Plan& plan) {
                for (PlanTree& tree : plan.blocks[0].trees) tree.rate.value *= 1.5;
                plan.throughput.value *= 1.5;
                plan.optimum.reset();
              }),
              HasSubstr("/blocks: the rates load"));
}

TEST(Multicast, RefusesWhatCannotBe) {
  const Platform platform = with_hub();
  const auto to = [&](const std::vector<std::string>& names) {
    return refusal([&] {
      const std::vector<NodeId> receivers = named(platform, names);
      const Multicast problem(platform, *platform.find_node("s"), receivers,
                              platforms::Model::kOnePort);
    });
  };
  EXPECT_EQ(to({}), "small: a multicast needs at least one receiver");
  EXPECT_EQ(to({"s"}), "small: 's' is the source and has the data already");
  EXPECT_EQ(to({"a", "a"}), "small: 'a' is named twice as a receiver");
}

}  // namespace
}  // namespace espalier::planner::multicast_test
