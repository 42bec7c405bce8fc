#include "planner/plan/segment_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "planner/plan/send_windows.hpp"

namespace espalier::planner::segment_choice_test {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

// Two chains through `nodes` nodes, each with half of 200 MB/s.
Plan two_chains(std::uint32_t nodes, std::uint64_t segment) {
  Plan plan;
  plan.segment = {segment};
  plan.throughput = {200e6};
  PlanTree tree;
  tree.rate = {100e6};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    plan.nodes.push_back("n" + std::to_string(i));
    if (i > 0) tree.edges.push_back({i - 1, i});
  }
  plan.source = "n0";
  plan.broadcast_trees = {tree, tree};
  return plan;
}

// Seconds of the formula, for any segment.
double seconds(const Plan& plan, std::uint64_t message, double segment, double overhead) {
  const double hops = static_cast<double>(plan.broadcast_trees.size() * (plan.nodes.size() - 2));
  const auto bytes = static_cast<double>(message);
  return (bytes + segment * hops) / plan.throughput.value + bytes / segment * overhead;
}

TEST(FittedSegment, NoOtherSizeTakesLessTimeByTheFormula) {
  const Plan plan = two_chains(6, 64 * kMiB);
  for (const std::uint64_t message : {1 * kMiB, 30 * kMiB, 5000 * kMiB}) {
    const auto segment = static_cast<double>(Pipeline(plan).fitted_segment({message}, {}));
    EXPECT_GT(segment, 8192);
    const double best = seconds(plan, message, segment, 10e-6);
    for (const double other : {0.9, 1.1}) {
      EXPECT_LT(best, seconds(plan, message, other * segment, 10e-6));
    }
  }
}

TEST(FittedSegment, StaysBetweenTheMinimumAndThePlansSegment) {
  const Plan plan = two_chains(6, kMiB / 2);
  EXPECT_EQ(Pipeline(plan).fitted_segment({0}, {}), 8192U);
  EXPECT_EQ(Pipeline(plan).fitted_segment({100}, {}), 8192U);
  EXPECT_EQ(Pipeline(plan).fitted_segment({UINT64_MAX}, {}), kMiB / 2);
  const Plan fine = two_chains(6, 1000);
  EXPECT_EQ(Pipeline(fine).fitted_segment({100 * kMiB}, {}), 1000U);
  const Plan coarse = two_chains(6, UINT64_MAX);
  EXPECT_LT(Pipeline(coarse).fitted_segment({100 * kMiB}, {}), 10 * kMiB);
}

TEST(FittedSegment, IsThePlansSegmentWhereNoPipelineHasToFill) {
  EXPECT_EQ(Pipeline(two_chains(2, 3 * kMiB)).fitted_segment({100}, {}), 3 * kMiB);
  EXPECT_EQ(Pipeline(two_chains(1, 3 * kMiB)).fitted_segment({100}, {}), 3 * kMiB);
}

// 10 us per segment are the time of 2000 bytes at 200 MB/s.
TEST(FittedSegment, KeepsBelowTheEagerSizeWhereThatIsCheap) {
  const Plan plan = two_chains(6, 64 * kMiB);
  const std::uint64_t free = Pipeline(plan).fitted_segment({1000 * kMiB}, {});
  EXPECT_GT(free, 60U << 10U);
  EXPECT_EQ(Pipeline(plan).fitted_segment({1000 * kMiB}, {.eager = Bytes{60U << 10U}}), 60U << 10U);
  EXPECT_EQ(Pipeline(plan).fitted_segment({1000 * kMiB}, {.eager = Bytes{20001}}), 20001U);
  EXPECT_EQ(Pipeline(plan).fitted_segment({1000 * kMiB}, {.eager = Bytes{20000}}), free);
}

// 100 MB/s along each chain, 1 s latency on each edge: 100 MB in flight, in 256 segments at most.
TEST(FittedSegment, KeepsTheBytesInFlightWithinAWindow) {
  Plan plan = two_chains(6, 64 * kMiB);
  for (PlanTree& tree : plan.broadcast_trees) tree.latencies.assign(5, {1});
  EXPECT_EQ(Pipeline(plan).fitted_segment({100}, {}), 100'000'000 / kMostInFlight);
  // For a round trip where the sender asks first.
  EXPECT_EQ(Pipeline(plan).fitted_segment({100}, {.eager = Bytes{60U << 10U}}),
            2 * 100'000'000 / kMostInFlight);
  plan.segment = {1000};
  EXPECT_EQ(Pipeline(plan).fitted_segment({100}, {}), 1000U);
}

// Half of the message goes down the second chain, which ends 15 s before the first.
TEST(PipelinedTime, CountsTheLatenciesOfTheLongestPaths) {
  Plan plan = two_chains(6, kMiB);
  plan.broadcast_trees[1].latencies = {{1}, {2}, {3}, {4}, {5}};
  EXPECT_NEAR(Pipeline(plan).time({10'000'000}, {1'000'000}, {1e-3}).value, 7.6, 1e-12);
  plan.operation = Operation::kAllreduce;
  plan.reduce_trees = plan.broadcast_trees;
  EXPECT_NEAR(Pipeline(plan).time({0}, {1'000'000}, {0}).value, 30, 1e-12);
}

// 1.25 GB/s over 20 ms: 25 MB.
TEST(SendWindow, CoversTheBytesInFlight) {
  PlanTree tree{{1.25e9}, {{0, 1}, {1, 2}}, {}};
  EXPECT_EQ(bytes_in_flight(tree, 1), 0);
  tree.latencies = {{0}, {0.02}};
  EXPECT_EQ(bytes_in_flight(tree, 0), 0);
  EXPECT_DOUBLE_EQ(bytes_in_flight(tree, 1), 25e6);
  EXPECT_EQ(send_window(2, 0, {1000}, true), 2U);
  EXPECT_EQ(send_window(2, 25e6, {1'000'000}, false), 27U + kHighLatencySends);
  EXPECT_EQ(send_window(2, 25e6, {1'000'000}, true), 52U + kHighLatencySends);
  EXPECT_EQ(send_window(4, 999'999, {1'000'000}, false), 5U + kHighLatencySends);
  EXPECT_EQ(send_window(4, 999'999, {1'000'000}, true), 6U + kHighLatencySends);
  EXPECT_EQ(send_window(4, 255, {1024}, true), 5U);
  EXPECT_EQ(send_window(4, 256, {1024}, false), 5U + kHighLatencySends);
  EXPECT_EQ(send_window(4, 64, {1024}, false), 5U);
  EXPECT_EQ(send_window(4, 63, {1024}, true), 4U);
  EXPECT_EQ(send_window(2, 25e6, {1}, false), 2 + kHighLatencySends + kMostInFlight);
  EXPECT_EQ(send_window(2, 1e300, {1}, true), 2 + kHighLatencySends + kMostInFlight);
  Plan plan;
  EXPECT_EQ(most_bytes_in_flight(plan), 0);
  plan.broadcast_trees = {tree};
  plan.reduce_trees = {tree};
  plan.reduce_trees[0].latencies[0] = {1};
  EXPECT_DOUBLE_EQ(most_bytes_in_flight(plan), 1.25e9);
}

TEST(WindowHolding, IsTheBaseOrMore) {
  EXPECT_EQ(window_holding({}, {10}, 4), 4U);
  EXPECT_EQ(window_holding({100}, {25}, 4), 4U);
  EXPECT_EQ(window_holding({101}, {25}, 4), 5U);
  EXPECT_EQ(window_holding({100'000}, {1}, 4), kMostInFlight);
  EXPECT_EQ(window_holding({100'000}, {1}, 300), 300U);
}

TEST(MostInFlight, IsTheLargestOfAllEdgesOfAllTrees) {
  const PlanTree near{{1e6}, {{0, 1}, {1, 2}}, {}};
  PlanTree longer = near;
  longer.latencies = {{0}, {100e-6}};
  const auto most = [](const std::vector<PlanTree>& trees) { return most_bytes_in_flight(trees); };
  EXPECT_DOUBLE_EQ(most({near, longer}), 100);
  EXPECT_EQ(most({near, near}), 0);
}

TEST(Pace, IsALittleFasterThanTheTree) {
  EXPECT_DOUBLE_EQ(pace({1e6}, {1000}).value, 0.8e-3);
  EXPECT_TRUE(keeps_pace(64, {1024}));
  EXPECT_FALSE(keeps_pace(63, {1024}));
  EXPECT_FALSE(keeps_pace(0, {1}));
}

TEST(Stagger, SpreadsAnyNumberOfTreesOverThePace) {
  for (const std::size_t trees : {1U, 2U, 7U, 15U, 1000U}) {
    std::vector<double> starts;
    for (std::size_t tree = 0; tree < trees; ++tree) starts.push_back(stagger(tree));
    std::ranges::sort(starts);
    EXPECT_EQ(starts.front(), 0);
    starts.push_back(1);
    for (std::size_t i = 0; i < trees; ++i) {
      EXPECT_LT(starts[i + 1] - starts[i], 2.0 / static_cast<double>(trees));
    }
  }
}

// What has no further hops is copied a segment of each tree later than it is combined, or the whole
// message.
TEST(PipelinedTime, CountsATurnOfTheTreesThatCopyWhatIsCombined) {
  Plan plan = two_chains(2, kMiB);
  EXPECT_NEAR(Pipeline(plan).time({10'000'000}, {1'000'000}, {0}).value, 0.05, 1e-12);
  plan.operation = Operation::kAllreduce;
  plan.reduce_trees = plan.broadcast_trees;
  EXPECT_NEAR(Pipeline(plan).time({10'000'000}, {1'000'000}, {0}).value, 0.05 + 2 * 0.005, 1e-12);
  EXPECT_NEAR(Pipeline(plan).time({1000}, {1'000'000}, {0}).value, 2 * 1000 / 200e6, 1e-12);
  EXPECT_LT(Pipeline(plan).fitted_segment({10'000'000}, {}), kMiB);
}

// 10 segments of 1 MB at 200 MB/s, and 2 x 4 hops after the first to fill.
TEST(PipelinedTime, IsTheTimeOfTheMessagePlusTheFilling) {
  const Plan plan = two_chains(6, kMiB);
  EXPECT_NEAR(Pipeline(plan).time({10'000'000}, {1'000'000}, {1e-3}).value, 0.05 + 0.04 + 0.01,
              1e-12);
  EXPECT_NEAR(Pipeline(plan).time({10'000'001}, {1'000'000}, {1e-3}).value, 0.101, 1e-6);
  // A segment is no longer than the message.
  EXPECT_NEAR(Pipeline(plan).time({1000}, {1'000'000}, {0}).value, 9 * 1000 / 200e6, 1e-12);
  EXPECT_EQ(Pipeline(plan).time({0}, {1'000'000}, {1}).value, 0);
  EXPECT_EQ(Pipeline(two_chains(1, kMiB)).time({1000}, {100}, {1}).value, 0);
}

}  // namespace
}  // namespace espalier::planner::segment_choice_test
