// GOAL schedules, run by an interpreter of LogGOPSim's rules.
#include "simulate/export/goal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "planner/plan/shapes/oblivious_shapes.hpp"
#include "planner/solve/make_plan.hpp"
#include "platforms/generators/generators.hpp"
#include "simulate/simulate.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/simulate/export/deliveries.hpp"
#include "tests/simulate/export/goal_interpreter.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::simulate::goal_test {
namespace {

using espalier::testing::Deliveries;
using espalier::testing::parse_goal;
using espalier::testing::run_goal;
using ::testing::HasSubstr;

void expect_delivers(const planner::Plan& plan, const std::string& text,
                     const Transfers& transfers) {
  Deliveries deliveries(plan, transfers);
  run_goal(parse_goal(text), {1000, 100, 500, 0.1}, deliveries);
  deliveries.expect_complete();
}

TEST(Goal, DeliversEveryOperation) {
  espalier::testing::for_every_operation([](const planner::Plan& plan, const std::string& name) {
    SCOPED_TRACE(fmt::format("{}, {}", planner::name_of(plan.operation), name));
    const Transfers transfers = transfers_of(plan, {40'000}, {4096});
    expect_delivers(plan, goal_schedule(plan, transfers), transfers);
  });
}

TEST(Goal, DeliversHalvesThatAreExchanged) {
  const planner::Plan plan = espalier::testing::exchanging_plan();
  const Transfers transfers = transfers_of(plan, {100'000}, {4096});
  expect_delivers(plan, goal_schedule(plan, transfers), transfers);
}

TEST(Goal, AddsWhereThatTakesTime) {
  const planner::Plan plan =
      planner::plan_of({"binomial", planner::Operation::kAllreduce, 8, 3, {1e9}});
  const Transfers transfers = transfers_of(plan, {10'000}, {4096});
  const std::string text = goal_schedule(plan, transfers, {{}, BytesPerSecond{1e9}});
  EXPECT_THAT(text, HasSubstr("calc 4096\n"));
  EXPECT_THAT(text, HasSubstr("calc 1808\n"));
  expect_delivers(plan, text, transfers);
}

TEST(Goal, ABarrierIsOneByteUpAndDown) {
  const planner::Plan plan =
      planner::plan_of({"binomial", planner::Operation::kBarrier, 5, 0, {1e9}});
  const Transfers transfers = transfers_of(plan, {1000}, {10});
  EXPECT_EQ(transfers.all.size(), 8U);
  expect_delivers(plan, goal_schedule(plan, transfers), transfers);
}

// The whole text of a small one.
TEST(Goal, IsWhatTxt2binReads) {
  const planner::Plan plan =
      planner::plan_of({"chain", planner::Operation::kBroadcast, 3, 0, {1e9}});
  EXPECT_EQ(
      goal_schedule(plan, transfers_of(plan, {3}, {2}), {LogGPView{{1e-6}, {2e-7}, {5e-7}, 1e-9}}),
      R"(// espalier: broadcast of 3 B in 2 segments of 2 B, plan 'chain' for ''; times in fs
// LogGOPSim -L 1000000000 -o 200000000 -g 500000000 -G 1000000 -O 0 -S 2147483647
num_ranks 3

// rank0
rank 0 {
s0: send 2b to 1 tag 0
s2: send 1b to 1 tag 1
s2 irequires s0
}

// rank1
rank 1 {
r0: recv 2b from 0 tag 0
s1: send 2b to 2 tag 0
s1 requires r0
r2: recv 1b from 0 tag 1
s3: send 1b to 2 tag 1
s3 requires r2
s3 irequires s1
}

// rank2
rank 2 {
r1: recv 2b from 1 tag 0
r3: recv 1b from 1 tag 1
}
)");
}

// --- times ---

// On hosts of the LogGP model with g at least 2 o: below that a host of LogGOPSim, whose processor
// is busy while it receives, has no time to send.
struct Times {
  double simulated;
  double by_goal;
};
Times times_of(const char* algorithm, std::size_t hosts, std::uint64_t segments, Bytes segment) {
  platforms::LogGPFamily family;
  family.hosts = hosts;
  family.latency = {20e-6};
  family.overhead = {2e-6};
  family.gap = {6e-6};
  family.per_byte = {1e-9};
  const platforms::Platform platform = platforms::generate_loggp(family);
  const planner::Instance instance =
      espalier::testing::instance_of(platform, "h0", "one-port-unidirectional");
  const planner::Plan plan =
      make_plan(instance, algorithm, espalier::testing::run(algorithm, instance), segment);
  const Bytes message{segments * segment.value};
  const Transfers transfers = transfers_of(plan, message, segment);
  const LogGPView view = loggp_of(plan, platform).value();
  Deliveries deliveries(plan, transfers);
  const std::vector<double> ends = run_goal(
      parse_goal(goal_schedule(plan, transfers, {view})),
      {view.latency.value, view.overhead.value, view.gap.value, view.gap_per_byte_s}, deliveries);
  deliveries.expect_complete();
  return {Simulator(plan, platform).run(message).makespan.value, *std::ranges::max_element(ends)};
}

void expect_near(const char* algorithm, std::size_t hosts, std::uint64_t segments, Bytes segment,
                 double tolerance) {
  SCOPED_TRACE(fmt::format("{} on {}, {} of {}", algorithm, hosts, segments, segment.value));
  const Times times = times_of(algorithm, hosts, segments, segment);
  EXPECT_NEAR(times.by_goal / times.simulated, 1, tolerance);
}

TEST(Goal, TakesAsLongAsSimulated) {
  for (const char* algorithm : {"chain", "flat", "binary", "binomial"}) {
    for (const std::size_t hosts : {2U, 9U}) {
      for (const std::uint64_t segments : {1U, 4U, 32U}) {
        for (const Bytes segment : {Bytes{1024}, Bytes{65536}}) {
          expect_near(algorithm, hosts, segments, segment, 1e-9);
        }
      }
    }
  }
}

// Which of two trees' segments a host sends first matters for few segments.
TEST(Goal, TakesAsLongAsSimulatedInTwoTrees) {
  for (const char* algorithm : {"two-tree-complete", "two-tree-sanders"}) {
    expect_near(algorithm, 9, 64, {65536}, 0.05);
  }
}

TEST(Goal, TheViewOfAPlatformIsTheOneItWasGeneratedBy) {
  platforms::LogGPFamily family;
  family.hosts = 4;
  family.latency = {20e-6};
  family.overhead = {2e-6};
  family.gap = {6e-6};
  family.per_byte = {1e-9};
  const platforms::Platform platform = platforms::generate_loggp(family);
  const planner::Instance instance = espalier::testing::instance_of(platform, "h0");
  const planner::Plan plan =
      make_plan(instance, "flat", espalier::testing::run("flat", instance), {1024});
  const LogGPView view = loggp_of(plan, platform).value();
  EXPECT_NEAR(view.latency.value, 20e-6, 1e-15);
  EXPECT_NEAR(view.overhead.value, 2e-6, 1e-15);
  EXPECT_NEAR(view.gap.value, 6e-6, 1e-15);
  EXPECT_NEAR(view.gap_per_byte_s, 1e-9, 1e-18);
}

// --- refusals ---

std::string refusal(Bytes message, Bytes segment) {
  const planner::Plan plan =
      planner::plan_of({"flat", planner::Operation::kBroadcast, 3, 0, {1e9}});
  return espalier::testing::refusal(
      [&] { goal_schedule(plan, transfers_of(plan, message, segment)); });
}

TEST(Goal, RefusesWhatItCannotSay) {
  EXPECT_EQ(refusal({0}, {1}), "--message: the plan sends nothing of it");
  EXPECT_EQ(refusal({4'000'000}, {1}),
            "--message: 8000000 sends, more than 2000000; give a larger --segment");
  EXPECT_EQ(refusal({std::uint64_t{6} << 30}, {std::uint64_t{5} << 30}),
            "--segment: 5 GiB, but messages of GOAL have at most 4 GiB; give a smaller one");
}

}  // namespace
}  // namespace espalier::simulate::goal_test
