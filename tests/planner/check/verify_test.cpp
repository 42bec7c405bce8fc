#include "planner/check/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>
#include <string>

#include "planner/registry.hpp"
#include "planner/solve/make_plan.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::verify_test {
namespace {

using espalier::testing::small_platform;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

//         s             every link takes 1 s per byte, so each link carries 1 B/s
//       /   \ .
//      v     v
//      a <=> b          a also sends to b through the relay sw, at 2 s per byte on a -> sw
//       \   /
//        v v
//         c
platforms::Platform diamond() {
  return small_platform({"s", "a", "b", "c", "sw"}, {{"s", "a", 1},
                                                     {"s", "b", 1},
                                                     {"a", "b", 1},
                                                     {"b", "a", 1},
                                                     {"a", "c", 1},
                                                     {"b", "c", 1},
                                                     {"a", "sw", 2},
                                                     {"sw", "b", 1}});
}

//   tree 0, 1 B/s     tree 1, 1 B/s      two trees fill both links out of s: the optimum
//       s                 s
//       |                 |
//       a                 b
//      / \               / \ .
//     b   c             a   c
Plan good_plan() {
  Plan plan;
  plan.platform = "small";
  plan.source = "s";
  plan.model = "bounded-multi-port";
  plan.algorithm = "optimal";
  plan.nodes = {"s", "a", "b", "c"};
  plan.throughput = {2};
  plan.optimum = BytesPerSecond{2};
  plan.broadcast_trees = {{{1}, {{0, 1}, {1, 2}, {1, 3}}, {}}, {{1}, {{0, 2}, {2, 1}, {2, 3}}, {}}};
  return plan;
}

VerifyReport report_on(const Plan& plan, bool prove = true) {
  return verify(plan, diamond(), {.prove = prove});
}

TEST(Verify, AGoodPlanIsValidAndItsFiguresAreRecomputed) {
  const VerifyReport report = report_on(good_plan());
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_DOUBLE_EQ(report.throughput.value, 2);
  EXPECT_DOUBLE_EQ(report.busiest_load, 1);
  EXPECT_NEAR(report.bound.value().value, 2, 1e-5);
  EXPECT_EQ(report.trees, 2);
  EXPECT_EQ(report.depth, 2);
  EXPECT_EQ(report.out_degree, 2);
}

TEST(Verify, ProvesOnlyWhenAsked) {
  EXPECT_FALSE(report_on(good_plan(), false).bound.has_value());
}

TEST(Verify, AcceptsAPlanWithSpareCapacity) {
  Plan plan = good_plan();
  plan.broadcast_trees.resize(1);
  plan.broadcast_trees[0].rate = plan.throughput = {0.25};
  const VerifyReport report = report_on(plan);
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_DOUBLE_EQ(report.throughput.value, 0.25);
  EXPECT_DOUBLE_EQ(report.busiest_load, 0.25);
}

TEST(Verify, AcceptsALooserBoundAndNoBound) {
  Plan plan = good_plan();
  plan.optimum = BytesPerSecond{5};
  EXPECT_THAT(report_on(plan).faults, IsEmpty());
  plan.optimum.reset();
  EXPECT_THAT(report_on(plan).faults, IsEmpty());
}

TEST(Verify, AcceptsRoundingWithinTheTolerance) {
  Plan plan = good_plan();
  plan.throughput.value *= 1 + 5e-7;
  for (PlanTree& tree : plan.broadcast_trees) tree.rate.value *= 1 + 5e-7;
  EXPECT_THAT(report_on(plan).faults, IsEmpty());
}

TEST(Verify, AcceptsPathsThroughRelaysAndHosts) {
  Plan plan = good_plan();
  plan.broadcast_trees[0].via[{1, 2}] = {"sw"};
  plan.broadcast_trees[0].rate = {0.5};
  plan.throughput = {1.5};
  EXPECT_THAT(report_on(plan).faults, IsEmpty());
  plan.broadcast_trees.resize(1);  // s -> a, a -> b, and s -> c through a
  plan.broadcast_trees[0] = {{0.5}, {{0, 1}, {1, 2}, {0, 3}}, {{{0, 3}, {"a"}}}};
  plan.throughput = {0.5};
  EXPECT_THAT(report_on(plan).faults, IsEmpty());
}

TEST(Verify, AcceptsTreesOfAnotherProgram) {
  Plan plan = good_plan();
  plan.algorithm = "own:by hand";
  EXPECT_THAT(report_on(plan).faults, IsEmpty());
}

TEST(Verify, ComputesLoadsUnderThePlansModel) {
  Plan plan = good_plan();
  plan.model = "one-port";
  plan.optimum.reset();
  EXPECT_THAT(report_on(plan).faults,
              ElementsAre("/broadcast_trees: the rates load out-port of s to 2.000000 of its "
                          "capacity; throughput at most 8.0000 bit/s"));
}

TEST(Verify, WithoutAProofATighterBoundIsNotDetected) {
  Plan plan = good_plan();
  plan.broadcast_trees.resize(1);
  plan.throughput = {1};
  plan.optimum = BytesPerSecond{1.5};
  EXPECT_THAT(report_on(plan, false).faults, IsEmpty());
}

// Overheads are part of the model: a plan that fits without them does not fit with them.
TEST(Verify, CountsTheOverheadOfThePlansSegments) {
  platforms::PlatformBuilder builder("small");
  const auto from = builder.node_named("s");
  const auto to = builder.node_named("a");
  builder.add_arc({from, to, {1000}, {0.25}, {0.5}});
  const platforms::Platform platform = std::move(builder).build();
  Plan plan;
  plan.platform = "small";
  plan.source = "s";
  plan.model = "one-port";
  plan.algorithm = "chain";
  plan.nodes = {"s", "a"};
  plan.segment = {500};  // 0.5 s overhead, 0.5 s on the link
  plan.throughput = {500};
  plan.broadcast_trees = {{{500}, {{0, 1}}, {}}};
  EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
  plan.latency_occupies = true;
  EXPECT_THAT(verify(plan, platform).faults,
              ElementsAre("/broadcast_trees: the rates load out-port of s to 1.250000 of its "
                          "capacity; throughput at most 3.2000 kbit/s"));
}

TEST(Verify, NamesAHostThatThePlatformCannotReach) {
  Plan plan = good_plan();
  const auto cut = small_platform({"s", "a", "b", "c"}, {{"s", "a", 1}, {"a", "b", 1}});
  EXPECT_THAT(verify(plan, cut).faults,
              ElementsAre("/source: small: 'c' cannot be reached from 's'"));
}

// --- lies, each reported in one line

struct Lie {
  std::string name;
  std::function<void(Plan&)> tell;
  std::string line;
};

std::ostream& operator<<(std::ostream& out, const Lie& lie) {
  return out << lie.name;
}

class VerifyLie : public ::testing::TestWithParam<Lie> {};

TEST_P(VerifyLie, IsNamedInOneLine) {
  Plan plan = good_plan();
  GetParam().tell(plan);
  EXPECT_THAT(report_on(plan).faults, ElementsAre(GetParam().line));
}

std::vector<PlanEdge>& edges(Plan& plan) {
  return plan.broadcast_trees[0].edges;
}

const std::vector<Lie>& lies_about_names() {
  static const std::vector<Lie> kLies{
      {"OtherPlatform", [](Plan& plan) { plan.platform = "large"; },
       "/platform: the plan is for platform 'large', not for 'small'"},
      {"FewerHosts", [](Plan& plan) { plan.nodes.pop_back(); },
       "/broadcast_trees/0/edges/2: node 3 is out of range: the plan has 3 nodes"},
      {"MoreHosts", [](Plan& plan) { plan.nodes.emplace_back("x"); },
       "/nodes: the plan has 5 nodes, the platform 4 hosts"},
      {"OtherHost", [](Plan& plan) { plan.nodes[3] = "x"; },
       "/nodes/3: the plan has 'x', the platform has 'c'"},
      {"HostsInAnotherOrder", [](Plan& plan) { std::swap(plan.nodes[1], plan.nodes[2]); },
       "/nodes/1: the plan has 'b', the platform has 'a'"},
      {"RelayAsNode", [](Plan& plan) { plan.nodes[3] = "sw"; },
       "/nodes/3: the plan has 'sw', the platform has 'c'"},
      {"UnknownAlgorithm", [](Plan& plan) { plan.algorithm = "optimol"; },
       "/algorithm: unknown algorithm 'optimol'; did you mean 'optimal'?"},
      {"UnknownInnerAlgorithm", [](Plan& plan) { plan.algorithm = "grow:flat"; },
       "/algorithm: algorithm 'grow:flat': 'grow' takes no inner algorithm; these do: "
       "hierarchical, hierarchical-node, hierarchical-group, reorder"},
      {"UnknownModel", [](Plan& plan) { plan.model = "one-prot"; },
       "/model: unknown model 'one-prot'; did you mean 'one-port'? one of: one-port, "
       "one-port-unidirectional, multi-port, bounded-multi-port, "
       "multi-port-processor"},
      {"UnknownSource", [](Plan& plan) { plan.source = "x"; },
       "/source: 'x' is not one of the plan's nodes"},
      {"RelayAsSource", [](Plan& plan) { plan.source = "sw"; },
       "/source: 'sw' is not one of the plan's nodes"},
  };
  return kLies;
}

const std::vector<Lie>& lies_about_trees() {
  static const std::vector<Lie> kLies{
      {"Cycle",
       [](Plan& plan) {
         edges(plan) = {{2, 1}, {1, 2}, {1, 3}};
       },
       "/broadcast_trees/0/edges: cycle a -> b -> a"},
      {"MissingNode", [](Plan& plan) { edges(plan).pop_back(); },
       "/broadcast_trees/0/edges: node 'c' is missing: no edge leads to it (2 edges, 3 needed)"},
      {"NodeTwice",
       [](Plan& plan) {
         edges(plan).push_back({2, 3});
       },
       "/broadcast_trees/0/edges/3: node 'c' has two parents, 'a' and 'b'"},
      {"ForeignArc", [](Plan& plan) { edges(plan)[2].parent = 0; },
       "/broadcast_trees/0/edges/2: the platform has no link 's' -> 'c'"},
      {"AnotherSource",
       [](Plan& plan) {
         edges(plan) = {{1, 0}, {1, 2}, {1, 3}};
       },
       "/broadcast_trees/0/edges/0: edge into the source 's'"},
      {"NoTrees", [](Plan& plan) { plan.broadcast_trees.clear(); },
       "/broadcast_trees: a plan needs at least one tree"},
      {"ViaAnUnknownNode",
       [](Plan& plan) {
         plan.broadcast_trees[0].via[{1, 2}] = {"hub"};
       },
       "/broadcast_trees/0/edges/1: via 'hub', which the platform does not have"},
      {"ViaANodeThatIsNotBetween",
       [](Plan& plan) {
         plan.broadcast_trees[0].via[{1, 3}] = {"sw"};
       },
       "/broadcast_trees/0/edges/2: the platform has no link 'sw' -> 'c'"},
      {"ViaOfAnEdgeThatIsNone",
       [](Plan& plan) {
         plan.broadcast_trees[0].via[{2, 3}] = {"sw"};
       },
       "/broadcast_trees/0/via/2-3: this tree has no such edge"},
      {"ViaThatHidesItsLoad",
       [](Plan& plan) {
         plan.broadcast_trees[0].via[{1, 2}] = {"sw"};
       },
       "/broadcast_trees: the rates load link a -> sw to 2.000000 of its capacity; throughput "
       "at most 8.0000 bit/s"},
  };
  return kLies;
}

// Colors of good_plan, of which each rank sends and receives once: s>a 0, a>b 0, a>c 1; s>b 1,
// b>a 1, b>c 0.
void color(Plan& plan, std::vector<std::uint8_t> tree0, std::vector<std::uint8_t> tree1) {
  plan.broadcast_trees[0].colors = std::move(tree0);
  plan.broadcast_trees[1].colors = std::move(tree1);
}

TEST(Verify, AcceptsValidColors) {
  Plan plan = good_plan();
  color(plan, {0, 0, 1}, {1, 1, 0});
  EXPECT_THAT(report_on(plan).faults, IsEmpty());
}

const std::vector<Lie>& lies_about_colors() {
  static const std::vector<Lie> kLies{
      {"TwoSendsInOneTree",
       [](Plan& plan) {
         color(plan, {0, 0, 0}, {1, 1, 0});
       },
       "/broadcast_trees/0/colors/2: node 'a' sends on two edges of color 0"},
      {"TwoSendsInTwoTrees",
       [](Plan& plan) {
         color(plan, {0, 0, 1}, {0, 1, 0});
       },
       "/broadcast_trees/1/colors/0: node 's' sends on two edges of color 0"},
      {"TwoReceives",
       [](Plan& plan) {
         color(plan, {0, 0, 1}, {1, 0, 1});
       },
       "/broadcast_trees/1/colors/1: node 'a' receives on two edges of color 0"},
      {"OneTreeOnly",
       [](Plan& plan) {
         color(plan, {0, 0, 1}, {});
       },
       "/broadcast_trees/1: either all trees have colors or none; tree 0 differs"},
  };
  return kLies;
}

const std::vector<Lie>& lies_about_figures() {
  static const std::vector<Lie> kLies{
      {"Throughput", [](Plan& plan) { plan.throughput = {3}; },
       "/throughput_Bps: the trees' rates sum to 2, not to 3"},
      {"ThroughputNotANumber",
       [](Plan& plan) { plan.throughput = {std::numeric_limits<double>::quiet_NaN()}; },
       "/throughput_Bps: a throughput is finite and positive, not nan"},
      {"NegativeRate",
       [](Plan& plan) {
         plan.broadcast_trees[0].rate = {-1};
         plan.broadcast_trees[1].rate = {3};
       },
       "/broadcast_trees/0/rate_Bps: a rate is finite and positive, not -1"},
      {"Overload",
       [](Plan& plan) {
         plan.broadcast_trees[0].rate = {1.5};
         plan.throughput = {2.5};
         plan.optimum = plan.throughput;
       },
       "/broadcast_trees: the rates load link s -> a to 1.500000 of its capacity; throughput "
       "at most 13.3333 bit/s"},
      {"OptimumBelowTheThroughput", [](Plan& plan) { plan.optimum = BytesPerSecond{1.5}; },
       "/optimum_Bps: 12.0000 bit/s is below the plan's own throughput 16.0000 bit/s"},
      {"OptimumBelowWhatIsReached",
       [](Plan& plan) {
         plan.broadcast_trees.resize(1);
         plan.throughput = {1};
         plan.optimum = BytesPerSecond{1.5};
       },
       "/optimum_Bps: the plan states an optimum of 12.0000 bit/s, but 16.0000 bit/s is reached"},
      {"OptimumNotFinite",
       [](Plan& plan) { plan.optimum = BytesPerSecond{std::numeric_limits<double>::infinity()}; },
       "/optimum_Bps: an optimum is finite and positive, not inf"},
      {"LatencyThatNoLinkHas",
       [](Plan& plan) {
         plan.broadcast_trees[1].latencies = {{0}, {0}, {0.25}};
       },
       "/broadcast_trees/1/latencies_s/2: the plan states 250.0 ms; the links of the path have "
       "0.000 s"},
      {"SliceOfNothing", [](Plan& plan) { plan.segment = {0}; },
       "/slice_bytes: a segment has at least one byte"},
  };
  return kLies;
}

std::string lie_name(const ::testing::TestParamInfo<Lie>& lie) {
  return lie.param.name;
}
INSTANTIATE_TEST_SUITE_P(Names, VerifyLie, ::testing::ValuesIn(lies_about_names()), lie_name);
INSTANTIATE_TEST_SUITE_P(Trees, VerifyLie, ::testing::ValuesIn(lies_about_trees()), lie_name);
INSTANTIATE_TEST_SUITE_P(Colors, VerifyLie, ::testing::ValuesIn(lies_about_colors()), lie_name);
INSTANTIATE_TEST_SUITE_P(Figures, VerifyLie, ::testing::ValuesIn(lies_about_figures()), lie_name);

TEST(Verify, AcceptsAnInnerAlgorithm) {
  Plan plan = good_plan();
  for (const char* name : {"hierarchical", "hierarchical:binomial", "reorder:chain"}) {
    plan.algorithm = name;
    EXPECT_THAT(report_on(plan).faults, IsEmpty()) << name;
  }
}

TEST(Verify, NamesEveryFaultOfItsNamesAtOnce) {
  Plan plan = good_plan();
  plan.platform = "large";
  plan.nodes[3] = "x";
  plan.algorithm = "magic";
  EXPECT_EQ(report_on(plan).faults.size(), 3);
}

TEST(Verify, NamesEveryForeignArc) {
  Plan plan = good_plan();
  plan.broadcast_trees[0].edges[2].parent = 0;
  plan.broadcast_trees[1].edges[2].parent = 0;
  EXPECT_THAT(report_on(plan).faults,
              ElementsAre("/broadcast_trees/0/edges/2: the platform has no link 's' -> 'c'",
                          "/broadcast_trees/1/edges/2: the platform has no link 's' -> 'c'"));
}

}  // namespace
}  // namespace espalier::planner::verify_test
