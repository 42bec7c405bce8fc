// Schedules can be executed: checked by a second, simple execution.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "planner/check/verify.hpp"
#include "planner/schedule/make_schedule.hpp"
#include "planner/solve/make_plan.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/planner/references/two_chains.hpp"
#include "tests/support/counting_clock.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::planner::schedule_test {
namespace {

using namespace espalier::testing;
using espalier::testing::run;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kOnePort = platforms::Model::kOnePort;

// --- executing it

// Steps from the source to every node.
std::vector<std::size_t> depths(const PlanTree& tree, std::uint32_t source, std::size_t nodes) {
  std::vector<std::size_t> depth(nodes, 0);
  for (std::size_t round = 1; round < nodes; ++round) {
    for (const auto [parent, child] : tree.edges) {
      if (parent == source || depth[parent] > 0) depth[child] = depth[parent] + 1;
    }
  }
  return depth;
}

// Two sends that share a port never overlap, checked for all pairs; and each has the seconds that
// its bytes take, with the segments' overheads divided evenly.
void expect_ports_keep_up(const platforms::Platform& platform, const Plan& plan) {
  const PlanSchedule& schedule = plan.schedule.value();
  const auto segment = static_cast<double>(plan.segment.value);
  for (std::size_t i = 0; i < schedule.sends.size(); ++i) {
    const ScheduledSend& one = schedule.sends[i];
    const platforms::Arc& arc = platform.arc(
        platform.find_arc(platform.hosts()[one.parent], platform.hosts()[one.child]).value());
    const double overhead = arc.overhead.value + (plan.latency_occupies ? arc.latency.value : 0);
    EXPECT_LE(one.bytes / arc.bandwidth.value + one.bytes / segment * overhead,
              one.time.value * (1 + 1e-9));
    const double end = one.start.value + one.time.value;
    EXPECT_LE(end, schedule.period.value);
    for (std::size_t j = i + 1; j < schedule.sends.size(); ++j) {
      const ScheduledSend& other = schedule.sends[j];
      if (one.parent != other.parent && one.child != other.child) continue;
      EXPECT_TRUE(end <= other.start.value ||
                  other.start.value + other.time.value <= one.start.value)
          << "sends " << i << " and " << j;
    }
  }
}

// In every period, every host forwards only data of each tree that it had before the period began.
// While the pipeline fills, depth by depth, there is nothing to forward; from then on every host
// receives all of a period's segments in every period.
void expect_steady_state(const Plan& plan) {
  const PlanSchedule& schedule = plan.schedule.value();
  const std::uint32_t source = source_index(plan);
  const std::size_t trees = plan.broadcast_trees.size();
  const std::size_t nodes = plan.nodes.size();
  std::vector<std::vector<std::size_t>> depth;
  std::size_t deepest = 0;
  for (const PlanTree& tree : plan.broadcast_trees) {
    depth.push_back(depths(tree, source, nodes));
    deepest = std::max(deepest, depth_of(tree, source));
  }
  std::vector<std::vector<double>> received(trees, std::vector<double>(nodes, 0.0));
  for (std::size_t period = 1; period <= deepest + 3; ++period) {
    const auto before = received;
    std::vector<std::vector<double>> sent = before;  // to each node, since the beginning
    for (const ScheduledSend& send : schedule.sends) {
      double amount = send.bytes;
      if (send.parent != source) {
        const double there = before[send.tree][send.parent] - sent[send.tree][send.child];
        amount = std::clamp(there, 0.0, amount);
      }
      sent[send.tree][send.child] += amount;
      received[send.tree][send.child] += amount;
    }
    for (std::size_t k = 0; k < trees; ++k) {
      const double batch =
          static_cast<double>(schedule.segments[k]) * static_cast<double>(plan.segment.value);
      for (std::size_t node = 0; node < nodes; ++node) {
        if (node == source) continue;
        const double got = received[k][node] - before[k][node];
        EXPECT_NEAR(got, period >= depth[k][node] ? batch : 0.0, 1e-6 * batch)
            << "tree " << k << ", node " << node << ", period " << period;
      }
    }
  }
}

double bytes_a_period(const Plan& plan) {
  double bytes = 0;
  for (const std::uint64_t count : plan.schedule.value().segments) {
    bytes += static_cast<double>(count) * static_cast<double>(plan.segment.value);
  }
  return bytes;
}

void expect_executable(const platforms::Platform& platform, const Plan& plan) {
  ASSERT_NO_THROW(check_structure(plan));
  expect_ports_keep_up(platform, plan);
  expect_steady_state(plan);
  const PlanSchedule& schedule = plan.schedule.value();
  EXPECT_DOUBLE_EQ(schedule.throughput.value, bytes_a_period(plan) / schedule.period.value);
  std::size_t jobs = 0;
  for (std::size_t k = 0; k < schedule.segments.size(); ++k) {
    if (schedule.segments[k] > 0) jobs += plan.broadcast_trees[k].edges.size();
  }
  EXPECT_LE(step_count(schedule), jobs + 2 * plan.nodes.size());
}

Plan scheduled(const Instance& instance, std::string_view algorithm, Bytes segment,
               const ScheduleOptions& options = {}) {
  Plan plan = make_plan(instance, algorithm, run(algorithm, instance), segment);
  plan.schedule = make_schedule(instance, plan, options);
  return plan;
}

// --- by hand

//      s          1 s per byte to a, 2 s per byte to b: a segment of 4 bytes takes 4 s and 8 s; the
//     / \         out-port is busy all the time
//    a   b
TEST(Schedule, AStarSendsInTurn) {
  const auto platform = small_platform({"s", "a", "b"}, {{"s", "a", 1}, {"s", "b", 2}});
  const Instance instance = instance_of(platform, "s");
  const Plan plan = scheduled(instance, "grow", Bytes{4});
  expect_executable(platform, plan);
  EXPECT_DOUBLE_EQ(plan.schedule->period.value, 12);
  EXPECT_THAT(plan.schedule->segments, ElementsAre(1));
  EXPECT_EQ(plan.schedule->sends.size(), 2);
  EXPECT_EQ(step_count(*plan.schedule), 2);
  EXPECT_DOUBLE_EQ(plan.schedule->throughput.value, plan.throughput.value);
}

TEST(Schedule, TwoChainsOfATriangle) {
  const auto platform = triangle();
  const Instance instance = instance_of(platform, "s");
  Plan plan = two_chains();
  plan.schedule = make_schedule(instance, plan);
  expect_executable(platform, plan);
  EXPECT_EQ(plan.schedule->period.value, 8);
  EXPECT_EQ(plan.schedule->throughput.value, 1);
  EXPECT_THAT(plan.schedule->segments, ElementsAre(1, 1));
  EXPECT_EQ(plan.schedule->sends.size(), 4);
  EXPECT_EQ(step_count(*plan.schedule), 2);
}

TEST(Schedule, ATreeTooSlowForThePeriodIsLeftOut) {
  const auto platform = triangle();
  const Instance instance = instance_of(platform, "s");
  Plan plan = two_chains();
  plan.broadcast_trees[0].rate = {0.999};
  plan.broadcast_trees[1].rate = {0.001};
  plan.schedule = make_schedule(instance, plan);
  expect_executable(platform, plan);
  EXPECT_THAT(plan.schedule->segments, ElementsAre(1, 0));
  EXPECT_EQ(plan.schedule->throughput.value, 1);
}

// As above, but a -> b takes 1.5 s per byte and b -> a 2 s: rates of 1/2 and 1/4 fill both
// in-ports. Segments in the ratio 2 to 1 are exact in a period of 16 s; the first tree alone has
// 2/3 byte/s in 6 s.
TEST(Schedule, ALossBuysAShorterPeriod) {
  const auto platform = small_platform(
      {"s", "a", "b"}, {{"s", "a", 1}, {"s", "b", 1}, {"a", "b", 1.5}, {"b", "a", 2}});
  const Instance instance = instance_of(platform, "s");
  Plan plan = two_chains();
  plan.broadcast_trees[0].rate = {0.5};
  plan.broadcast_trees[1].rate = {0.25};
  plan.throughput = {0.75};
  plan.schedule = make_schedule(instance, plan, {0.2});
  expect_executable(platform, plan);
  EXPECT_THAT(plan.schedule->segments, ElementsAre(1, 0));
  EXPECT_DOUBLE_EQ(plan.schedule->period.value, 6);
  EXPECT_DOUBLE_EQ(plan.schedule->throughput.value, 2.0 / 3);
  plan.schedule = make_schedule(instance, plan, {0.1});
  expect_executable(platform, plan);
  EXPECT_THAT(plan.schedule->segments, ElementsAre(2, 1));
  EXPECT_DOUBLE_EQ(plan.schedule->period.value, 16);
  EXPECT_DOUBLE_EQ(plan.schedule->throughput.value, 0.75);
}

// 8 bytes at 8 bytes/s, and 1 s for each segment of 4 bytes: 3 s; with its latency of 2 s, 7 s.
TEST(Schedule, OverheadsCountForEverySegment) {
  platforms::PlatformBuilder builder("small");
  const auto from = builder.node_named("s");
  const auto to = builder.node_named("a");
  builder.add_arc({from, to, {8}, {2}, {1}});
  const platforms::Platform platform = std::move(builder).build();
  for (const bool occupies : {false, true}) {
    const Instance instance(platform, from, kOnePort, {Bytes{4}, occupies});
    const Plan plan = scheduled(instance, "chain", Bytes{4});
    expect_executable(platform, plan);
    EXPECT_THAT(plan.schedule->segments, ElementsAre(1));
    EXPECT_DOUBLE_EQ(plan.schedule->period.value, occupies ? 3.5 : 1.5);
    EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
  }
}

TEST(Schedule, RefusesALossOutOfRange) {
  const auto platform = triangle();
  const Instance instance = instance_of(platform, "s");
  for (const double loss : {0.0, 1.0, -1.0, 1e-5}) {
    EXPECT_THROW((void)make_schedule(instance, two_chains(), {loss}), std::invalid_argument);
  }
}

TEST(Schedule, ALimitHoldsForSegmentsAndForMatchings) {
  const auto platform = platforms::generate_random({.nodes = 120, .density = 0.2, .seed = 1});
  const Instance instance(platform, platform.hosts().front(), kOnePort);
  const Plan plan = make_plan(instance, "optimal", run("optimal", instance), Bytes{1 << 20});
  CountingClock clock;
  const PlanSchedule whole =
      make_schedule(instance, plan, {.loss = 1e-3, .deadline = Deadline({}, &clock)});
  const std::size_t looks = clock.looks();
  ASSERT_GT(looks, 4U);
  ASSERT_FALSE(whole.sends.empty());
  for (std::size_t limit = 1; limit + 2 < looks; ++limit) {
    CountingClock cut;
    const Deadline deadline(Seconds{static_cast<double>(limit)}, &cut);
    EXPECT_THROW((void)make_schedule(instance, plan, {.loss = 1e-3, .deadline = deadline}),
                 LimitReached);
    EXPECT_LE(cut.looks(), limit + 3);
  }
}

// --- no schedule

std::string refusal(const Instance& instance, const Plan& plan) {
  return espalier::testing::refusal([&] { (void)make_schedule(instance, plan); });
}

TEST(Schedule, RefusesSendsThatOccupyMoreThanTwoPorts) {
  const auto plain = triangle();
  EXPECT_EQ(refusal(instance_of(plain, "s", "multi-port"), two_chains()),
            "a schedule needs the model one-port, not multi-port");
  const auto relays = sample_platform("relays-shared-link.json");
  EXPECT_EQ(refusal(instance_of(relays, "a"), two_chains()),
            "a schedule needs a platform without relays; 'relays and a shared link' has 3");
  platforms::PlatformBuilder builder("bus");
  const auto from = builder.node_named("s");
  const auto to = builder.node_named("a");
  builder.add_arc({from, to, {1}, {}, {}});
  builder.add_shared_link("link", {1}, {{from, to}});
  const platforms::Platform bus = std::move(builder).build();
  EXPECT_EQ(refusal(instance_of(bus, "s"), two_chains()),
            "a schedule needs a platform without shared links; 'bus' has 1");
}

TEST(Schedule, RefusesEdgesThroughOtherHosts) {
  const auto path = small_platform({"s", "a", "b"}, {{"s", "a", 1}, {"a", "b", 1}});
  const Instance instance = instance_of(path, "s");
  const Plan plan = make_plan(instance, "flat", run("flat", instance), Bytes{4});
  EXPECT_EQ(refusal(instance, plan),
            "a schedule needs direct links; tree 0 goes from 's' to 'b' through other nodes");
}

// --- over random platforms

class RandomSchedules : public ::testing::TestWithParam<std::string> {};

// Whether the drawn platform alone rules out a schedule.
bool has_schedule(const platforms::Platform& platform, const Plan& plan) {
  const bool direct = std::all_of(plan.broadcast_trees.begin(), plan.broadcast_trees.end(),
                                  [](const PlanTree& tree) { return tree.via.empty(); });
  return direct && platform.shared_links().empty() &&
         platform.hosts().size() == platform.nodes().size();
}

TEST_P(RandomSchedules, AreExecutableAndLoseNoMoreThanAllowed) {
  std::size_t schedules = 0;
  for_each_platform(8, 14, kOnePort, [&](const DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    const Instance instance = drawn.under(kOnePort);
    Plan plan = make_plan(instance, GetParam(), run(GetParam(), instance), Bytes{65536});
    if (!has_schedule(drawn.platform, plan)) {
      EXPECT_THAT(refusal(instance, plan), HasSubstr("a schedule needs"));
      return;
    }
    ++schedules;
    for (const double loss : {0.2, 0.003}) {
      plan.schedule = make_schedule(instance, plan, {loss});
      expect_executable(drawn.platform, plan);
      EXPECT_GE(plan.schedule->throughput.value, plan.throughput.value * (1 - loss) * (1 - 1e-9));
      EXPECT_THAT(verify(plan, drawn.platform, {.prove = false}).faults, IsEmpty());
      EXPECT_EQ(parse_plan(to_json(plan), "p.json").schedule, plan.schedule);
      EXPECT_EQ(make_schedule(instance, plan, {loss}), plan.schedule);
    }
  });
  EXPECT_GT(schedules, 10);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, RandomSchedules,
                         ::testing::Values("optimal", "grow", "prune-refined", "binomial"),
                         [](const auto& test) { return espalier::testing::case_name(test.param); });

TEST(Schedule, SeventyOneRegions) {
  const auto platform = sample_platform("cloud-71-regions.json");
  const Instance instance = instance_of(platform, "azure:westeurope");
  const Plan plan = scheduled(instance, "optimal", Bytes{1 << 20});
  expect_executable(platform, plan);
  EXPECT_GT(plan.broadcast_trees.size(), 2);
  EXPECT_GE(plan.schedule->throughput.value, 0.99 * plan.throughput.value);
}

}  // namespace
}  // namespace espalier::planner::schedule_test
