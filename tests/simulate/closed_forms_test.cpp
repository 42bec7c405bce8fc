// Runs whose times have closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tests/planner/references/small_platform.hpp"
#include "tests/planner/references/two_chains.hpp"
#include "tests/simulate/cases.hpp"

namespace espalier::simulate::closed_forms_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

constexpr double kRounding = 1e-12;

// h0 to each of h1, h2, ... by a link of its own.
SimulatedCase star(const std::vector<double>& seconds_per_byte,
                   const std::string& model = "one-port") {
  std::vector<std::string> nodes{"h0"};
  std::vector<Link> links;
  std::vector<planner::PlanEdge> edges;
  for (std::uint32_t i = 0; i < seconds_per_byte.size(); ++i) {
    nodes.push_back("h" + std::to_string(i + 1));
    links.push_back({"h0", nodes.back(), seconds_per_byte[i]});
    edges.push_back({0, i + 1});
  }
  return one_tree(small_platform(nodes, links), edges, model);
}

// The first segment passes n - 2 hosts before the last host receives it; then the k segments arrive
// one by one.
TEST(Chain, OfEqualLinksTakesNMinusTwoPlusKSegments) {
  for (const std::size_t hosts : {2U, 3U, 9U}) {
    for (const std::uint64_t segments : {1U, 2U, 50U}) {
      const SimulatedCase of = chain_of(std::vector<LinkTimes>(hosts - 1, {0.25}));
      const double expected =
          static_cast<double>(hosts - 2 + segments);  // a segment takes a second
      EXPECT_NEAR(of.run(4 * segments).makespan.value, expected, kRounding * expected)
          << hosts << " hosts, " << segments << " segments";
    }
  }
}

// A line of servers with fixed times: the sum of all for the first segment, then the slowest one
// for each further segment.
TEST(Chain, OfUnequalLinksTakesTheFillAndThenTheSlowestLink) {
  const SimulatedCase of = chain_of({{0.5}, {2}, {0.25}, {1}});
  EXPECT_NEAR(of.run(4 * 100).makespan.value, 4 * (0.5 + 2 + 0.25 + 1) + 99 * 8, 1e-9);
}

TEST(Chain, CountsLatencyOncePerHopAndOverheadOncePerSegment) {
  const SimulatedCase of = chain_of({{0.25, 7, 0.5}, {0.25, 11, 0.5}});
  EXPECT_NEAR(of.run(4 * 100).makespan.value, (3 - 2 + 100) * 1.5 + 7 + 11, 1e-9);
}

TEST(Chain, CountsLatenciesThatOccupyLikeOverheads) {
  SimulatedCase of = chain_of({{0.25, 7, 0.5}, {0.25, 7, 0.5}});
  of.plan.latency_occupies = true;
  EXPECT_NEAR(of.run(4 * 100).makespan.value, (3 - 2 + 100) * 8.5, 1e-9);
}

// 9 bytes: segments of 4, 4 and 1; the last one has the full overhead.
TEST(Chain, SendsAShortLastSegment) {
  const SimulatedCase of = chain_of({{0.25, 0, 0.5}, {0.25, 0, 0.5}});
  const Simulation simulation = of.run(9);
  EXPECT_EQ(simulation.segments, 3U);
  EXPECT_EQ(simulation.sends, 6U);
  EXPECT_THAT(seconds(simulation.done),
              Pointwise(DoubleNear(1e-9), {0.0, 1.5 + 1.5 + 0.75, 1.5 + 1.5 + 1.5 + 0.75}));
}

TEST(Chain, OfAnEmptyMessageTakesNoTime) {
  const Simulation simulation = chain_of({{1}, {1}}).run(0);
  EXPECT_EQ(simulation.makespan.value, 0);
  EXPECT_EQ(simulation.segments, 0U);
  EXPECT_THAT(seconds(simulation.done), ElementsAre(0, 0, 0));
}

// Receiving and sending share the one port of h1, so each segment takes it twice as long.
TEST(Chain, UnderOnePortUnidirectionalTakesTwiceTheTimeASegment) {
  const SimulatedCase of = chain_of({{0.25}, {0.25}}, "one-port-unidirectional");
  EXPECT_NEAR(of.run(4 * 100).makespan.value, 200, 1e-9);
}

// The out-port of h0 sends segment by segment, each to its children in turn.
TEST(Star, TakesTheSumOfItsLinksForEverySegment) {
  const SimulatedCase of = star({0.25, 1, 0.5});
  const Simulation simulation = of.run(4 * 10);
  EXPECT_THAT(seconds(simulation.done),
              Pointwise(DoubleNear(1e-9), {0.0, 9 * 7.0 + 1, 9 * 7.0 + 5, 10 * 7.0}));
  EXPECT_NEAR(simulation.busy.front().value, 70, 1e-9);  // the out-port
}

// s = 0.8 min T = 0.2 s per byte: the sender is busy for 0.8 s per child, and the links work in
// parallel. Three children keep it busy for 2.4 s, longer than any link.
TEST(Star, UnderMultiPortIsLimitedByASenderWithManyChildren) {
  const SimulatedCase of = star({0.25, 0.25, 0.25}, "multi-port");
  EXPECT_NEAR(of.run(4 * 10).makespan.value, 10 * 2.4 - 0.8 + 1, 1e-9);
}

// With few children the slowest link (4 s) limits. It begins after the first child's 0.8 s and is
// then never idle.
TEST(Star, UnderMultiPortIsLimitedByASlowLink) {
  const SimulatedCase of = star({0.25, 1}, "multi-port");
  EXPECT_NEAR(of.run(4 * 10).makespan.value, 0.8 + 10 * 4, 1e-9);
}

// Links work in parallel, and the nodes have no caps.
TEST(Star, UnderBoundedMultiPortIsAsFastAsEachLink) {
  const SimulatedCase of = star({0.25, 1, 0.5}, "bounded-multi-port");
  EXPECT_THAT(of.done(4 * 10), Pointwise(DoubleNear(1e-9), {0.0, 10.0, 40.0, 20.0}));
}

//     h0 ---> sw ---> h1
//
// 1 s and 2 s per segment. The switch cuts through, so a segment takes the time of the slower link,
// and so does each further one.
TEST(Relay, CutsThrough) {
  SimulatedCase of = one_tree(
      small_platform({"h0", "sw", "h1"}, {{"h0", "sw", 0.25}, {"sw", "h1", 0.5}}), {{0, 1}});
  of.plan.broadcast_trees.front().via[{0, 1}] = {"sw"};
  EXPECT_NEAR(of.run(4 * 10).makespan.value, 20, 1e-9);
}

//     h0 --- 1 s ---> sw --- 4 s ---> h1..h4
//
// The out-port of h0 is as busy as each link from the switch. The switch buffers the segments that
// wait for its links, so its links are always busy.
TEST(Relay, BuffersWaitingSegments) {
  std::vector<std::string> nodes{"h0", "sw"};
  std::vector<Link> links{{"h0", "sw", 0.25}};
  std::vector<planner::PlanEdge> edges;
  for (std::uint32_t child = 1; child <= 4; ++child) {
    nodes.push_back("h" + std::to_string(child));
    links.push_back({"sw", nodes.back(), 1});
    edges.push_back({0, child});
  }
  SimulatedCase of = one_tree(small_platform(nodes, links), edges);
  for (const planner::PlanEdge& edge : edges) {
    of.plan.broadcast_trees.front().via[{edge.parent, edge.child}] = {"sw"};
  }
  // h4's first segment waits for three others; then one arrives every 4 s.
  EXPECT_NEAR(of.run(4 * 100).makespan.value, 3 + 400, 1e-9);
}

// h0 ---> h1 and h0 ---> h2 over one trunk of 0.5 s per byte. Under bounded-multi-port the trunk is
// the only shared resource, and limits both.
TEST(SharedLink, ServesOneSegmentAtATime) {
  platforms::PlatformBuilder builder("trunk");
  const auto h0 = builder.node_named("h0");
  const auto h1 = builder.node_named("h1");
  const auto h2 = builder.node_named("h2");
  builder.add_arc({h0, h1, {4}, {}, {}});
  builder.add_arc({h0, h2, {4}, {}, {}});
  builder.add_shared_link("trunk", {2}, {{h0, h1}, {h0, h2}});
  const SimulatedCase of =
      one_tree(std::move(builder).build(), {{0, 1}, {0, 2}}, "bounded-multi-port");
  EXPECT_THAT(of.done(4 * 10), Pointwise(DoubleNear(1e-9), {0.0, 38.0, 40.0}));
}

//     h0 --- 1 s ---> h1 --- 1 s ---> h3
//       `--- 1 s ---> h2
//
// A segment of 4 bytes takes 1 s on each link. h0 sends each segment to h1, then to h2.
TEST(Tree, TakesTheFillOfTheDeepestPathAndThenItsPeriod) {
  const SimulatedCase of =
      one_tree(small_platform({"h0", "h1", "h2", "h3"},
                              {{"h0", "h1", 0.25}, {"h0", "h2", 0.25}, {"h1", "h3", 0.25}}),
               {{0, 1}, {0, 2}, {1, 3}});
  EXPECT_THAT(of.done(4 * 10),
              Pointwise(DoubleNear(1e-9), {0.0, 9 * 2.0 + 1, 9 * 2.0 + 2, 9 * 2.0 + 2}));
}

// With a window of one the next send is posted when the previous one has ended. This loses no time,
// as h1's second segment comes after h2's first in any case.
TEST(Window, OfOneLosesNoTimeOnATree) {
  Options narrow;
  narrow.window = 1;
  const SimulatedCase of = star({0.25, 1, 0.5});
  EXPECT_EQ(of.run(400, narrow).makespan, of.run(400).makespan);
}

TEST(Segment, CanDifferFromThePlans) {
  Options whole;
  whole.segment = Bytes{400};
  const Simulation simulation = chain_of({{0.25}, {0.25}}).run(400, whole);
  EXPECT_EQ(simulation.segments, 1U);
  EXPECT_NEAR(simulation.makespan.value, 200, 1e-9);
}

// Two chains over a triangle, each with half of the data. A segment of 4 bytes takes 4 s. In 8 s
// the source sends one segment of each tree, and both hosts receive two.
TEST(TwoTrees, ReachTheSumOfTheirRates) {
  const platforms::Platform platform = triangle();
  const planner::Plan plan = two_chains();
  const Simulation simulation = Simulator(plan, platform).run({8 * 100});
  EXPECT_NEAR(simulation.makespan.value, 100 * 8 + 4, 1e-9);
}

TEST(OnSend, IsCalledForEverySendInOrderOfTime) {
  const SimulatedCase of = chain_of({{0.25}, {0.5}});
  std::vector<std::string> reported;
  double last = 0;
  const Simulation simulation = Simulator(of.plan, of.platform).run({8}, [&](const Send& send) {
    EXPECT_GE(send.start.value, last);
    last = send.start.value;
    reported.push_back(std::to_string(send.segment) + " to " + of.plan.nodes[send.child]);
    EXPECT_EQ(send.holdings.size(), 2U);
    EXPECT_NEAR(send.holdings.back().seconds, send.child == 1 ? 1 : 2, 1e-12);
  });
  EXPECT_THAT(reported, ElementsAre("0 to h1", "1 to h1", "0 to h2", "1 to h2"));
  EXPECT_EQ(simulation.sends, reported.size());
}

// The number of queued events does not grow with the message.
TEST(Memory, DoesNotGrowWithTheSegments) {
  const SimulatedCase of = chain_of({{0.25, 7}, {0.25, 1}, {0.5}});
  EXPECT_EQ(of.run(4 * 100).most_events, of.run(4 * 100'000).most_events);
}

// A longer message may be faster (docs/model.md, "What greedy sending loses"; Graham, Bounds on
// multiprocessing timing anomalies, 1969, doi:10.1137/0117039). At 19/6 s h3 has a segment of the
// first tree for h2 and one of the third for h1, in this order. Of 8 segments the first one goes,
// and the third tree's two slow hops come last. The ninth, from h0 to h2, keeps h2 busy at this
// moment: h3 begins the slow hop, beside which the rest is sent.
TEST(Anomaly, ASegmentMoreMayMakeTheMessageFaster) {
  SimulatedCase of = one_tree(small_platform({"h0", "h1", "h2", "h3"}, {{"h0", "h2", 1. / 4},
                                                                        {"h0", "h3", 1. / 3},
                                                                        {"h1", "h2", 1. / 4},
                                                                        {"h2", "h1", 1. / 4},
                                                                        {"h2", "h3", 1},
                                                                        {"h3", "h1", 1},
                                                                        {"h3", "h2", 1. / 2}}),
                              {{0, 3}, {3, 2}, {2, 1}});
  of.plan.segment = {1};
  of.plan.broadcast_trees = {{{20. / 14}, {{0, 3}, {3, 2}, {2, 1}}, {}},
                             {{9. / 14}, {{0, 2}, {0, 3}, {2, 1}}, {}},
                             {{4. / 14}, {{0, 3}, {3, 1}, {1, 2}}, {}},
                             {{3. / 14}, {{0, 2}, {2, 1}, {2, 3}}, {}}};
  of.plan.throughput = {36. / 14};
  EXPECT_NEAR(of.run(8).makespan.value, 31. / 6, 1e-9);
  EXPECT_NEAR(of.run(9).makespan.value, 5, 1e-9);
}

// Ten segments of 4 s each over a latency of 10 s. At 1 byte/s 10 bytes are in flight, so the
// window is enlarged and the link is never idle. At a much lower rate the window stays 2: two
// segments in 14 s.
TEST(Chain, SendsThatLastUntilReceivedWaitForLatencies) {
  SimulatedCase slow = chain_of({{1, 10}});
  EXPECT_DOUBLE_EQ(slow.run(40).makespan.value, 50);
  EXPECT_DOUBLE_EQ(slow.run(40, {.until_received = true}).makespan.value, 50);
  slow.plan.throughput = slow.plan.broadcast_trees[0].rate = {0.01};
  EXPECT_DOUBLE_EQ(slow.run(40).makespan.value, 50);
  EXPECT_DOUBLE_EQ(slow.run(40, {.until_received = true}).makespan.value, 4 * 14 + 4 + 4 + 10);
  EXPECT_DOUBLE_EQ(slow.run(40, {.window = 4, .until_received = true}).makespan.value, 50);
}

}  // namespace
}  // namespace espalier::simulate::closed_forms_test
