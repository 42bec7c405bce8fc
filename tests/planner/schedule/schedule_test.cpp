// Schedules can be executed: checked by a second, simple execution.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "planner/check/verify.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "planner/schedule/make_schedule.hpp"
#include "planner/solve/make_plan.hpp"
#include "platforms/generators/generators.hpp"
#include "tests/planner/references/executed_schedule.hpp"
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

//      s          As above, but towards s, whose in-port is busy all the time; and both at once on
//     / \         links of 1 s per byte, which are as fast in either direction.
//    a   b
TEST(Schedule, AStarCombinesInTurn) {
  const auto platform = small_platform({"s", "a", "b"}, {{"a", "s", 1}, {"b", "s", 2}});
  const Collective reduce = collective_of(platform, "s", Operation::kReduce);
  const Algorithm grow = find_algorithm("grow", Operation::kReduce);
  Plan plan = make_plan(reduce, "grow", run(grow, reduce, {}), Bytes{4});
  plan.schedule = make_schedule(reduce, plan);
  expect_executable(platform, plan);
  EXPECT_DOUBLE_EQ(plan.schedule->period.value, 12);
  EXPECT_THAT(plan.schedule->segments, ElementsAre(1));
  EXPECT_DOUBLE_EQ(plan.schedule->throughput.value, plan.throughput.value);

  const auto both_ways =
      small_platform({"s", "a", "b"}, {{"a", "s", 1}, {"b", "s", 1}, {"s", "a", 1}, {"s", "b", 1}});
  const Collective allreduce = collective_of(both_ways, "s", Operation::kAllreduce);
  plan = make_plan(allreduce, "grow", run(grow, allreduce, {}), Bytes{4});
  plan.schedule = make_schedule(allreduce, plan);
  expect_executable(both_ways, plan);
  EXPECT_DOUBLE_EQ(plan.schedule->period.value, 8);
  EXPECT_THAT(plan.schedule->segments, ElementsAre(1, 1));
  EXPECT_DOUBLE_EQ(plan.schedule->throughput.value, 0.5);
}

TEST(Schedule, OfAnAllreduceCarriesAsMuchBothWays) {
  const auto platform = platforms::generate_random({.nodes = 6, .density = 1, .seed = 3});
  const Collective allreduce(Operation::kAllreduce, platform, platform.hosts().front(), kOnePort);
  const Algorithm optimal = find_algorithm("optimal", Operation::kAllreduce);
  Plan plan = make_plan(allreduce, "optimal", run(optimal, allreduce, {}), Bytes{1 << 16});
  for (const double loss : {0.5, 0.1, 0.01, 0.001}) {
    plan.schedule = make_schedule(allreduce, plan, {loss});
    const auto& segments = plan.schedule->segments;
    const auto down = segments.begin() + static_cast<std::ptrdiff_t>(plan.reduce_trees.size());
    EXPECT_EQ(std::accumulate(segments.begin(), down, std::uint64_t{0}),
              std::accumulate(down, segments.end(), std::uint64_t{0}));
    EXPECT_GE(plan.schedule->throughput.value, plan.throughput.value * (1 - loss) * (1 - 1e-9));
  }
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

template <class Problem>
std::string refusal(const Problem& instance, const Plan& plan) {
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

class RandomSchedules : public ::testing::TestWithParam<std::tuple<Operation, std::string>> {};

// Whether the drawn platform alone rules out a schedule.
bool has_schedule(const platforms::Platform& platform, const Plan& plan) {
  const std::vector<DirectedTree> trees = trees_in_order(plan);
  const bool direct = std::all_of(trees.begin(), trees.end(),
                                  [](const DirectedTree& of) { return of.tree->via.empty(); });
  return direct && platform.shared_links().empty() &&
         platform.hosts().size() == platform.nodes().size();
}

TEST_P(RandomSchedules, AreExecutableAndLoseNoMoreThanAllowed) {
  const Operation operation = std::get<0>(GetParam());
  const Algorithm algorithm = find_algorithm(std::get<1>(GetParam()), operation);
  std::size_t schedules = 0;
  const auto check = [&](const DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    const Collective instance = drawn.under(kOnePort, operation);
    Plan plan = make_plan(instance, algorithm.name, run(algorithm, instance, {}), Bytes{65536});
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
  };
  for_each_platform(operation, 8, 14, kOnePort, check);
  EXPECT_GT(schedules, 10);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, RandomSchedules,
                         ::testing::Combine(::testing::ValuesIn(kOperations),
                                            ::testing::Values("optimal", "grow", "prune-refined",
                                                              "binomial")),
                         [](const auto& test) {
                           return espalier::testing::case_name(std::get<0>(test.param),
                                                               std::get<1>(test.param));
                         });

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
