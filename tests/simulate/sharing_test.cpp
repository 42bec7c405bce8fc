// Runs whose sends share resources, with closed forms of their times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "planner/solve/make_plan.hpp"
#include "platforms/generators/generators.hpp"
#include "simulate/simulate.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/simulate/every_operation.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::simulate::sharing_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

constexpr double kNear = 1e-6;
constexpr Options kEdges{.sharing = Sharing::kEdges};
constexpr Options kSends{.sharing = Sharing::kSends};

struct Case {
  platforms::Platform platform;
  planner::Plan plan;

  Simulation run(std::uint64_t message, const Options& options, const OnSend& on_send = {}) const {
    return Simulator(plan, platform, options).run({message}, on_send);
  }
  [[nodiscard]] std::vector<double> done(std::uint64_t message, const Options& options) const {
    std::vector<double> seconds;
    for (const Seconds time : run(message, options).done) seconds.push_back(time.value);
    return seconds;
  }
};

struct Child {
  double bandwidth;
  double latency = 0;
};

// One tree over hosts h0, h1, ...; segments of 4 bytes; bounded-multi-port.
Case one_tree(platforms::PlatformBuilder builder, const std::vector<planner::PlanEdge>& edges) {
  platforms::Platform platform = std::move(builder).build();
  planner::Plan plan;
  plan.platform = platform.name();
  for (std::size_t host = 0; host <= edges.size(); ++host) {
    plan.nodes.push_back("h" + std::to_string(host));
  }
  plan.source = "h0";
  plan.model = "bounded-multi-port";
  plan.algorithm = "by hand";
  plan.segment = {4};
  plan.throughput = {1};
  plan.broadcast_trees = {{{1}, edges, {}}};
  return {std::move(platform), plan};
}

// h0, which sends at most `cap` bytes per second, to each of h1, h2, ... by a separate link.
Case star(double cap, const std::vector<Child>& children) {
  platforms::PlatformBuilder builder("star");
  const platforms::NodeId source = builder.node_named("h0");
  builder.nodes().front().send = BytesPerSecond{cap};
  std::vector<planner::PlanEdge> edges;
  for (std::uint32_t i = 1; i <= children.size(); ++i) {
    const platforms::NodeId child = builder.node_named("h" + std::to_string(i));
    builder.add_arc({source, child, {children[i - 1].bandwidth}, {children[i - 1].latency}, {0}});
    edges.push_back({0, i});
  }
  return one_tree(std::move(builder), edges);
}

// The share of a flow whose latency is 10^330 times longer than another's is not nothing: the run
// ends.
TEST(Sharing, EndsWithLatenciesAtTheEndsOfNumbers) {
  const Case far = star(2, {{1, 1e-300}, {1, 1e30}});
  for (const Options& options : {kEdges, kSends}) EXPECT_GE(far.done(8, options).at(2), 1e30);
}

// h0 -> h1 -> ..., 1 byte per second.
Case chain(std::uint32_t links) {
  platforms::PlatformBuilder builder("chain");
  std::vector<planner::PlanEdge> edges;
  for (std::uint32_t i = 0; i < links; ++i) {
    builder.add_arc({builder.node_named("h" + std::to_string(i)),
                     builder.node_named("h" + std::to_string(i + 1)),
                     {1},
                     {0},
                     {0}});
    edges.push_back({i, i + 1});
  }
  return one_tree(std::move(builder), edges);
}

// Two segments of a window share a link and arrive at the same time, so each hop takes two
// segments.
TEST(SharingAmongSends, TakesTwoSegmentsPerHopOfAChain) {
  for (const std::uint32_t links : {1U, 2U, 7U}) {
    for (const std::uint64_t segments : {2U, 20U}) {
      const double expected = 4 * static_cast<double>(2 * (links - 1) + segments);
      EXPECT_NEAR(chain(links).run(4 * segments, kSends).makespan.value, expected, kNear)
          << links << " links, " << segments << " segments";
    }
  }
  const Options one{.window = 1, .sharing = Sharing::kSends};
  EXPECT_NEAR(chain(5).run(4 * 20, one).makespan.value, 4 * (4 + 20), kNear);
}

TEST(SharingAmongEdges, DoesNotChangeAChain) {
  for (const std::uint64_t window : {1U, 2U, 5U}) {
    const Options options{.window = window, .sharing = Sharing::kEdges};
    EXPECT_NEAR(chain(5).run(4 * 20, options).makespan.value, 4 * (4 + 20), kNear);
  }
}

// h2 gets the part of h1's half that h1's link cannot carry.
TEST(Sharing, IsMaxMinFair) {
  const Case of = star(3, {{1}, {10}});
  EXPECT_THAT(of.done(4, kEdges), Pointwise(DoubleNear(kNear), {0.0, 4.0, 2.0}));
  EXPECT_THAT(of.done(4, kSends), Pointwise(DoubleNear(kNear), {0.0, 4.0, 2.0}));
}

// As a share of such a segment, the message would be less than rounding.
TEST(Sharing, TakesAsLongInASegmentFarLongerThanTheMessage) {
  Case of = star(3, {{1}, {10}});
  of.plan.segment = {std::uint64_t{1} << 62U};
  EXPECT_THAT(of.done(4, kEdges), Pointwise(DoubleNear(kNear), {0.0, 4.0, 2.0}));
  EXPECT_THAT(of.done(4, kSends), Pointwise(DoubleNear(kNear), {0.0, 4.0, 2.0}));
}

// 3 and 1 bytes per second; from 4/3 s on the high-latency child has all 4.
TEST(Sharing, IsInverseToLatency) {
  const Case of = star(4, {{10, 1}, {10, 3}});
  EXPECT_THAT(of.done(4, kEdges), Pointwise(DoubleNear(kNear), {0.0, 4.0 / 3 + 1, 2.0 + 3}));
}

TEST(Sharing, TreatsNoLatencyAsTheShortestOne) {
  const Case of = star(4, {{10, 0}, {10, 3}});
  EXPECT_THAT(of.done(4, kEdges), Pointwise(DoubleNear(kNear), {0.0, 2.0, 2.0 + 3}));
}

// Two segments are in progress to each of two children: four shares by sends, two by edges.
TEST(Sharing, CountsSendsOrEdges) {
  Case of = star(6, {{100}, {100}});
  of.plan.segment = {12};
  EXPECT_THAT(of.done(24, kSends), Pointwise(DoubleNear(kNear), {0.0, 8.0, 8.0}));
  std::vector<double> ends;
  const auto note = [&](const Send& send) {
    ends.push_back(send.start.value + send.holdings.front().seconds);
  };
  of.run(24, kSends, note);
  EXPECT_THAT(ends, Pointwise(DoubleNear(kNear), {8.0, 8.0, 8.0, 8.0}));
  ends.clear();
  of.run(24, kEdges, note);
  EXPECT_THAT(ends, Pointwise(DoubleNear(kNear), {4.0, 4.0, 8.0, 8.0}));
}

// Segments of 4 and 2 bytes share 1 byte per second: the shorter one has passed after 4 s, but does
// not arrive before the longer one.
TEST(SharingAmongSends, LetsAShorterLastSegmentFreeItsShare) {
  EXPECT_NEAR(chain(1).run(6, kSends).makespan.value, 6, kNear);
  EXPECT_NEAR(chain(1).run(6, kEdges).makespan.value, 6, kNear);
  EXPECT_NEAR(chain(2).run(6, kSends).makespan.value, 12, kNear);
  for (std::uint64_t message = 4; message < 30; ++message) {
    const auto busy = static_cast<double>(message);
    EXPECT_NEAR(chain(1).run(message, kSends).makespan.value, busy, kNear);
    EXPECT_NEAR(chain(1).run(message, kEdges).makespan.value, busy, kNear);
  }
}

TEST(Sharing, ReportsSendsWithTheirResources) {
  const Case of = chain(2);
  std::vector<std::string> reported;
  of.run(8, kSends, [&](const Send& send) {
    reported.push_back(std::to_string(send.segment) + " to " + of.plan.nodes[send.child]);
    EXPECT_NEAR(send.start.value, send.child == 1 ? 0 : 8, kNear);
    ASSERT_EQ(send.holdings.size(), 1U);  // the link
    EXPECT_NEAR(send.holdings.front().seconds, 8, kNear);
  });
  EXPECT_THAT(reported, ElementsAre("0 to h1", "1 to h1", "0 to h2", "1 to h2"));
}

TEST(Sharing, MemoryDoesNotGrowWithTheSegments) {
  const Case of = star(3, {{1}, {10}, {2, 0.5}});
  EXPECT_EQ(of.run(4 * 1000, kSends).most_events, of.run(4 * 50'000, kSends).most_events);
}

// Without a pace, all segments of a window that is enlarged for latency would arrive at the same
// time. The pace is 0.8 of the 4 s that a segment takes at the tree's 1 byte per second: 3.2 s,
// more than the link's 0.4 s.
TEST(Sharing, KeepsThePaceOfHighLatencySegments) {
  const Case of = star(100, {{10, 8}});
  const Options options{.until_received = true, .sharing = Sharing::kSends};
  EXPECT_NEAR(of.run(4 * 10, options).makespan.value, 9 * 3.2 + 0.4 + 8, kNear);
  EXPECT_NEAR(of.run(4 * 10, kSends).makespan.value, 10 * 0.4 + 8, kNear);
}

// A link takes 0.4 s per segment, and two segments of a window pass at a time. If any edge has a
// sixteenth of a segment in flight, all edges keep a pace of 3.2 s.
TEST(Sharing, KeepsThePaceIfOneEdgeHasHighLatency) {
  const Options options{.until_received = true, .sharing = Sharing::kSends};
  for (const double latency : {0.2, 1.0}) {
    Case of = star(100, {{10, 0}, {10, latency}});
    const bool is_paced = latency >= 4.0 / 16;
    const double paced = 19 * 3.2 + 0.4;
    const std::vector<double> one{0, is_paced ? paced : 20 * 0.4,
                                  is_paced ? paced + latency : 10 * (2 * 0.4 + latency)};
    EXPECT_THAT(of.done(4 * 20, options), Pointwise(DoubleNear(kNear), one));
    of.plan.broadcast_trees.push_back(of.plan.broadcast_trees[0]);
    of.plan.throughput = {2};
    const double paced_here = 9 * 3.2 + 2 * 0.4;
    const std::vector<double> two{0, is_paced ? paced_here : 20 * 0.4,
                                  is_paced ? paced_here + latency : 5 * (4 * 0.4 + latency)};
    EXPECT_THAT(of.done(4 * 20, options), Pointwise(DoubleNear(kNear), two));
  }
}

// Towards the root, too: h0 has two children, one of them with high latency.
TEST(Sharing, KeepsThePaceOfReductions) {
  platforms::PlatformBuilder builder("star");
  const platforms::NodeId root = builder.node_named("h0");
  builder.add_arc({builder.node_named("h1"), root, {10}, {0}, {0}});
  builder.add_arc({builder.node_named("h2"), root, {10}, {1}, {0}});
  Case of = one_tree(std::move(builder), {{0, 1}, {0, 2}});
  of.plan.operation = planner::Operation::kReduce;
  std::swap(of.plan.reduce_trees, of.plan.broadcast_trees);
  const Options options{.until_received = true, .sharing = Sharing::kSends};
  EXPECT_NEAR(of.run(4 * 20, options).makespan.value, 19 * 3.2 + 0.4 + 1, kNear);
}

// Each link of a chain serves one segment after the other, in reductions too.
TEST(SharingAmongEdges, DoesNotChangeAReductionAlongAChain) {
  platforms::PlatformBuilder builder("chain");
  std::vector<planner::PlanEdge> edges;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const platforms::NodeId parent = builder.node_named("h" + std::to_string(i));
    builder.add_arc({builder.node_named("h" + std::to_string(i + 1)), parent, {1}, {0}, {0}});
    edges.push_back({i, i + 1});
  }
  Case of = one_tree(std::move(builder), edges);
  of.plan.operation = planner::Operation::kReduce;
  std::swap(of.plan.reduce_trees, of.plan.broadcast_trees);
  for (const double compute : {0.5, 2.0}) {
    Options options{.compute = BytesPerSecond{compute}};
    const double turns = of.run(4 * 20, options).makespan.value;
    options.sharing = Sharing::kEdges;
    EXPECT_NEAR(of.run(4 * 20, options).makespan.value, turns, kNear);
  }
}

// Both directions of an allreduce share resources.
TEST(Sharing, AppliesToBothDirectionsOfAnAllreduce) {
  const testing::DrawnPlatform drawn = testing::platform_families().front().draw(1, 8);
  const planner::Collective collective(planner::Operation::kAllreduce, drawn.platform, drawn.source,
                                       platforms::Model::kBoundedMultiPort, drawn.options);
  const planner::Plan plan = planner::make_plan(
      collective, "grow",
      planner::run(planner::find_algorithm("grow", planner::Operation::kAllreduce), collective, {}),
      {65536});
  for (const Sharing sharing : {Sharing::kEdges, Sharing::kSends}) {
    const Simulation run = Simulator(plan, drawn.platform, {.sharing = sharing}).run({1'000'001});
    EXPECT_LE(std::ranges::max_element(run.busy)->value, run.makespan.value * (1 + 1e-9));
    EXPECT_EQ(run.sends, 16 * 2 * (plan.nodes.size() - 1));
    for (const Seconds done : run.done) EXPECT_GT(done.value, 0);
  }
}

// Trees of several roots share the ports of eight unlike hosts, all of which are full. Not kept at
// their rates they reach 0.7 of them.
TEST(SharingAmongSends, TreesOfManyRootsKeepTheirRates) {
  constexpr Bytes kSegment{16 << 10};
  constexpr std::uint64_t kMessage = 16 << 20;
  platforms::StarFamily family;
  family.hosts = 8;
  family.spread.heterogeneity = 0.3;
  family.spread.seed = 2;
  const platforms::Platform platform = platforms::generate_star(family);
  const planner::AllRoots problem(planner::Operation::kAllreduce, platform,
                                  platforms::Model::kOnePort);
  const planner::Plan plan = planner::make_plan(
      problem, "optimal", planner::solve(problem, {}, planner::Purpose::kPlan), kSegment);
  ASSERT_GT(plan.blocks.size(), 2U);
  const Simulation run = Simulator(plan, platform, kSends).run({kMessage});
  EXPECT_LE(run.makespan.value, kMessage / plan.throughput.value / 0.95);
}

// Half of the root's segments cross a thin link of 5 ms, in 0.8 of the time; those to hosts nearby
// take 250 times as much of its port as each of the others. Begun all at once, they leave the thin
// link idle for 7 % of the time.
TEST(SharingAmongSends, RoutedSegmentsKeepALongLinkBusyBesideShortOnes) {
  constexpr Bytes kSegment{60 << 10};
  constexpr std::uint64_t kMessage = 64 << 20;
  const platforms::Platform platform = platforms::generate_two_clusters({});
  const testing::DrawnPlatform drawn{platform, platform.hosts().front(), {}};
  for (const planner::Operation operation :
       {planner::Operation::kScatter, planner::Operation::kGather}) {
    const auto plan =
        testing::plan_for({operation, true}, drawn, platforms::Model::kOnePort, "flat", kSegment);
    ASSERT_TRUE(plan);
    const Simulation run =
        Simulator(*plan, platform, {.until_received = true, .sharing = Sharing::kSends})
            .run({kMessage});
    EXPECT_LE(run.makespan.value, kMessage / plan->throughput.value / 0.97);
  }
}

// Each root's trees cross a thin link of 5 ms. Its last segments, several of each tree, arrive
// together; kept at the pace from then on they would take 1.16 of the optimum's time, and 1.09.
TEST(SharingAmongSends, TheEndOfAMessageNeedsNoPace) {
  constexpr Bytes kSegment{60 << 10};
  constexpr std::uint64_t kMessage = 16 << 20;
  const platforms::Platform platform = platforms::generate_two_clusters({});
  for (const planner::Operation operation :
       {planner::Operation::kAllgather, planner::Operation::kReduceScatter}) {
    const planner::AllRoots problem(operation, platform, platforms::Model::kOnePort);
    const planner::Plan plan = planner::make_plan(
        problem, "optimal", planner::solve(problem, {}, planner::Purpose::kPlan), kSegment);
    const Simulation run =
        Simulator(plan, platform, {.until_received = true, .sharing = Sharing::kSends})
            .run({kMessage});
    EXPECT_LE(run.makespan.value, kMessage / plan.throughput.value / 0.96);
  }
}

// No resource is overloaded, and a message takes at least the time of the busiest one.
class SharingUnder : public ::testing::TestWithParam<platforms::ModelEntry> {};

TEST_P(SharingUnder, OverloadsNoResource) {
  const auto check = [&](const testing::DrawnPlatform& drawn, const std::string& trace) {
    const planner::Instance instance = drawn.under(GetParam().model);
    for (const char* algorithm : {"optimal", "grow", "binomial", "split-binary"}) {
      const planner::Plan plan =
          planner::make_plan(instance, algorithm, testing::run(algorithm, instance), {65536});
      for (const Sharing sharing : {Sharing::kEdges, Sharing::kSends}) {
        const Simulation run =
            Simulator(plan, drawn.platform, {.sharing = sharing}).run({1'000'001});
        const double busiest = std::ranges::max_element(run.busy)->value;
        EXPECT_LE(busiest, run.makespan.value * (1 + 1e-9)) << trace << ' ' << algorithm;
        EXPECT_GT(run.makespan.value, 0) << trace << ' ' << algorithm;
      }
    }
  };
  testing::for_each_platform(6, 8, GetParam().model, check);
}

INSTANTIATE_TEST_SUITE_P(Models, SharingUnder, ::testing::ValuesIn(platforms::models()),
                         [](const auto& entry) { return testing::case_name(entry.param.name); });

TEST(Sharing, HasNames) {
  for (const auto& entry : kSharings) {
    EXPECT_EQ(parse_sharing(name_of(entry.value)), entry.value);
  }
  EXPECT_EQ(testing::refusal([] { return parse_sharing("send"); }),
            "unknown sharing 'send'; did you mean 'sends'? one of: turns, edges, sends");
}

}  // namespace
}  // namespace espalier::simulate::sharing_test
