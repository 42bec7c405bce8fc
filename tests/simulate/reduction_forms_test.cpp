// Reductions whose times have closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/planner/references/small_platform.hpp"
#include "tests/simulate/cases.hpp"

namespace espalier::simulate::reduction_forms_test {
namespace {

using namespace espalier::testing;
using planner::Operation;
using namespace ::testing;

// Links of 1/4 s per byte (1 s per segment) in both directions along every edge.
SimulatedCase reduction(Operation operation, std::uint32_t hosts,
                        const std::vector<planner::PlanEdge>& edges) {
  std::vector<std::string> nodes;
  for (std::uint32_t host = 0; host < hosts; ++host) nodes.push_back("h" + std::to_string(host));
  std::vector<Link> links;
  for (const planner::PlanEdge& edge : edges) {
    links.push_back({nodes[edge.parent], nodes[edge.child], 0.25});
    links.push_back({nodes[edge.child], nodes[edge.parent], 0.25});
  }
  return reduced(one_tree(small_platform(nodes, links), edges), operation);
}

std::vector<planner::PlanEdge> chain(std::uint32_t hosts) {
  return chain_edges(hosts - 1);
}
std::vector<planner::PlanEdge> flat(std::uint32_t hosts) {
  std::vector<planner::PlanEdge> edges;
  for (std::uint32_t i = 1; i < hosts; ++i) edges.push_back({0, i});
  return edges;
}
// Host i's parent is i without its lowest bit; the largest subtree is last.
std::vector<planner::PlanEdge> binomial(std::uint32_t hosts) {
  std::vector<planner::PlanEdge> edges;
  for (std::uint32_t bit = 1; bit < hosts; bit *= 2) {
    for (std::uint32_t i = bit; i < hosts; i += 2 * bit) edges.push_back({i - bit, i});
  }
  return edges;
}

// Options with which a segment of 4 bytes takes `segment_s` to combine.
Options combining_in(double segment_s) {
  Options options;
  options.compute = BytesPerSecond{4 / segment_s};
  return options;
}

// Each hop sends and combines the first segment; each further one takes the slower of the two.
TEST(ReduceChain, TakesTheFillAndThenTheSlowerOfSendingAndCombining) {
  for (const double combining_s : {0.0, 0.25, 1.0, 3.0}) {
    for (const std::uint32_t hosts : {2U, 3U, 9U}) {
      for (const std::uint64_t segments : {1U, 2U, 50U}) {
        const SimulatedCase of = reduction(Operation::kReduce, hosts, chain(hosts));
        const Options options = combining_s > 0 ? combining_in(combining_s) : Options{};
        const double expected = (hosts - 1) * (1 + combining_s) +
                                static_cast<double>(segments - 1) * std::max(1.0, combining_s);
        EXPECT_NEAR(of.run(4 * segments, options).makespan.value, expected, 1e-9 * expected)
            << hosts << " hosts, " << segments << " segments, " << combining_s;
      }
    }
  }
}

// The leaf is done first and the root last; each hop adds the time of a send and a combination.
TEST(ReduceChain, ReportsWhenEachHasSentItsPart) {
  const Simulation simulation =
      reduction(Operation::kReduce, 4, chain(4)).run(4 * 10, combining_in(0.5));
  EXPECT_THAT(seconds(simulation.done), Pointwise(DoubleNear(1e-9), {13.5, 13.0, 11.5, 10.0}));
  EXPECT_EQ(simulation.sends, 30U);
  // Three hosts combine ten segments each, the leaf none.
  const std::vector<double> busy = seconds(simulation.busy);
  const std::vector<double> processors(busy.end() - 4, busy.end());
  EXPECT_THAT(processors, Pointwise(DoubleNear(1e-9), {5.0, 5.0, 5.0, 0.0}));
}

// The in-port receives segment after segment, and the processor adds them as they arrive; the
// slower of the two is the bottleneck.
TEST(ReduceFlat, TakesTheSumOfItsLinksOrOfItsCombining) {
  const SimulatedCase of = reduction(Operation::kReduce, 4, flat(4));
  EXPECT_NEAR(of.run(4 * 10).makespan.value, 30, 1e-9);
  EXPECT_NEAR(of.run(4 * 10, combining_in(0.5)).makespan.value, 30 + 0.5, 1e-9);
  EXPECT_NEAR(of.run(4 * 10, combining_in(2)).makespan.value, 1 + 30 * 2, 1e-9);
}

// One segment takes three rounds of sending and combining for eight hosts.
TEST(ReduceBinomial, TakesARoundForEveryDoubling) {
  const SimulatedCase of = reduction(Operation::kReduce, 8, binomial(8));
  EXPECT_NEAR(of.run(4).makespan.value, 3, 1e-9);
  EXPECT_NEAR(of.run(4, combining_in(0.5)).makespan.value, 3 * 1.5, 1e-9);
  // The root's in-port receives every segment three times.
  EXPECT_NEAR(of.run(4 * 50).makespan.value, 150, 1e-9);
}

// 9 bytes: segments of 4, 4 and 1. The last one takes 1/4 s to send and 1/8 s to combine.
TEST(ReduceChain, CombinesAShortLastSegment) {
  const Simulation simulation =
      reduction(Operation::kReduce, 2, chain(2)).run(9, combining_in(0.5));
  EXPECT_NEAR(simulation.makespan.value, 2 + 0.5 + 0.125, 1e-9);
}

// The two directions of a chain use opposite ports: the last segment reaches the root after hosts -
// 1 hops and k - 1 segments, and the leaf after as many further hops.
TEST(AllreduceChain, ReversesSegmentsAtTheRoot) {
  for (const std::uint64_t segments : {1U, 2U, 50U}) {
    const SimulatedCase of = reduction(Operation::kAllreduce, 2, chain(2));
    EXPECT_NEAR(of.run(4 * segments).makespan.value, static_cast<double>(segments) + 1, 1e-9);
    EXPECT_NEAR(of.run(4 * segments, combining_in(0.5)).makespan.value,
                static_cast<double>(segments) + 1.5, 1e-9);
  }
  // In the middle of three, two segments in each direction share the ports: 2 s per segment.
  const Simulation simulation = reduction(Operation::kAllreduce, 3, chain(3)).run(4 * 50);
  EXPECT_GE(simulation.makespan.value, 100);
  EXPECT_LE(simulation.makespan.value, 104);
}

// With a buffer for one segment, the leaf's next send begins when the previous segment is combined.
// So sending and combining alternate.
TEST(Buffers, DelayASenderUntilItsSegmentIsAdded) {
  const SimulatedCase of = reduction(Operation::kReduce, 2, chain(2));
  Options narrow = combining_in(0.5);
  narrow.receives = 1;
  EXPECT_NEAR(of.run(4 * 10, narrow).makespan.value, 10 * 1.5, 1e-9);
  narrow.receives = 2;
  EXPECT_NEAR(of.run(4 * 10, narrow).makespan.value, 10 * 1.0 + 0.5, 1e-9);
}

TEST(Memory, OfAReductionDoesNotGrowWithTheSegments) {
  const SimulatedCase of = reduction(Operation::kAllreduce, 8, binomial(8));
  const Options options = combining_in(0.3);
  EXPECT_EQ(of.run(4 * 1000, options).most_events, of.run(4 * 100'000, options).most_events);
}

// One segment: h2 -> h1 -> h0 -> h1 -> h2.
TEST(OnSend, IsCalledForBothDirectionsAndForCombining) {
  const SimulatedCase of = reduction(Operation::kAllreduce, 3, chain(3));
  const Simulator simulator(of.plan, of.platform, combining_in(0.5));
  std::vector<std::string> reported;
  static_cast<void>(simulator.run({4}, [&](const Send& send) {
    const std::string edge = of.plan.nodes[send.parent] + " " + of.plan.nodes[send.child];
    const bool combines = send.kind == Send::Kind::kCombining;
    reported.push_back((combines ? "add " : send.kind == Send::Kind::kUp ? "up " : "down ") + edge);
    EXPECT_EQ(send.tree, 0U);
    EXPECT_NEAR(send.holdings.front().seconds, combines ? 0.5 : 1, 1e-12);
    if (combines) {
      EXPECT_EQ(send.holdings.front().resource, simulator.resources().size() + send.parent);
    }
  }));
  EXPECT_THAT(reported, ElementsAre("up h1 h2", "add h1 h2", "up h0 h1", "add h0 h1", "down h0 h1",
                                    "down h1 h2"));
}

TEST(Simulator, RefusesAComputeRateIfNothingIsCombined) {
  SimulatedCase of = reduction(Operation::kReduce, 2, chain(2));
  EXPECT_THROW(Simulator(of.plan, of.platform, {.compute = BytesPerSecond{0}}),
               std::invalid_argument);
  of.plan.operation = Operation::kBroadcast;
  std::swap(of.plan.broadcast_trees, of.plan.reduce_trees);
  EXPECT_THROW(Simulator(of.plan, of.platform, combining_in(1)), std::invalid_argument);
  Options none;
  none.receives = 0;
  EXPECT_THROW(Simulator(of.plan, of.platform, none), std::invalid_argument);
}

}  // namespace
}  // namespace espalier::simulate::reduction_forms_test
