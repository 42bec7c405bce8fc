// Every fault of a schedule that verify finds.
#include "planner/check/verify_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "planner/check/verify.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/planner/references/two_chains.hpp"

namespace espalier::planner::verify_schedule_test {
namespace {

using espalier::testing::triangle;
using espalier::testing::two_chains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Plan good_plan() {
  Plan plan = two_chains();
  plan.schedule = espalier::testing::schedule_of_two_chains();
  return plan;
}

struct Lie {
  std::string name;
  std::function<void(PlanSchedule&)> tell;
  std::vector<std::string> lines;
};

std::ostream& operator<<(std::ostream& out, const Lie& lie) {
  return out << lie.name;
}

class ScheduleLie : public ::testing::TestWithParam<Lie> {};

TEST_P(ScheduleLie, IsNamed) {
  Plan plan = good_plan();
  ASSERT_THAT(verify(plan, triangle()).faults, IsEmpty());
  EXPECT_EQ(verify(plan, triangle()).scheduled, BytesPerSecond{1});
  GetParam().tell(*plan.schedule);
  const VerifyReport report = verify(plan, triangle());
  EXPECT_EQ(report.faults, GetParam().lines);
  EXPECT_FALSE(report.scheduled);
}

std::vector<Lie> lies_about_ports() {
  return {
      {"SendsTwiceAtOnce",
       [](PlanSchedule& schedule) { schedule.sends[2].start = schedule.sends[3].start = {3}; },
       {"/schedule/sends/2: at 3 s 's' still sends to 'a', until 4 s (/schedule/sends/0)",
        "/schedule/sends/2: at 3 s 'b' still receives from 'a', until 4 s (/schedule/sends/1)",
        "/schedule/sends/3: at 3 s 'a' still receives from 's', until 4 s (/schedule/sends/0)"}},
      {"ReceivesTwiceAtOnce",
       [](PlanSchedule& schedule) {
         schedule.sends = {{0, 0, 1, {0}, {4}, 4},
                           {1, 2, 1, {2}, {4}, 4},
                           {1, 0, 2, {4}, {4}, 4},
                           {0, 1, 2, {8}, {4}, 4}};
         schedule.period = {12};
         schedule.throughput = {8.0 / 12};
       },
       {"/schedule/sends/1: at 2 s 'a' still receives from 's', until 4 s (/schedule/sends/0)"}},
      // The second of a's sends ends before the first does: the third is compared with the first.
      {"OverlapsALongSendBeforeTheLast",
       [](PlanSchedule& schedule) {
         schedule.sends = {{0, 0, 1, {0}, {4}, 4}, {0, 1, 2, {0}, {4}, 2}, {0, 1, 2, {1}, {1}, 1},
                           {0, 1, 2, {3}, {1}, 1}, {1, 0, 2, {4}, {4}, 4}, {1, 2, 1, {4}, {4}, 4}};
       },
       {"/schedule/sends/2: at 1 s 'a' still sends to 'b', until 4 s (/schedule/sends/1)",
        "/schedule/sends/2: at 1 s 'b' still receives from 'a', until 4 s (/schedule/sends/1)",
        "/schedule/sends/3: at 3 s 'a' still sends to 'b', until 4 s (/schedule/sends/1)",
        "/schedule/sends/3: at 3 s 'b' still receives from 'a', until 4 s (/schedule/sends/1)"}},
      {"FasterThanTheLink",
       [](PlanSchedule& schedule) { schedule.sends[0].time = {3.9}; },
       {"/schedule/sends/0: 4 bytes from 's' to 'a' take 4 s, not 3.9 s"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Schedule, ScheduleLie, ::testing::ValuesIn(lies_about_ports()),
                         [](const auto& test) { return test.param.name; });

// good_plan in reverse: the links lead to s, and ports are those of the data's direction.
TEST(VerifySchedule, KnowsTheDirectionOfReduceTrees) {
  const platforms::Platform platform = espalier::testing::small_platform(
      {"s", "a", "b"}, {{"a", "s", 1}, {"b", "s", 1}, {"a", "b", 1}, {"b", "a", 1}});
  Plan plan = good_plan();
  plan.operation = Operation::kReduce;
  plan.reduce_trees = std::exchange(plan.broadcast_trees, {});
  EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
  EXPECT_EQ(verify(plan, platform).scheduled, BytesPerSecond{1});
  plan.schedule->sends[2].start = plan.schedule->sends[3].start = {3};
  EXPECT_THAT(
      verify(plan, platform).faults,
      ElementsAre("/schedule/sends/2: at 3 s 'b' still sends to 'a', until 4 s (/schedule/sends/1)",
                  "/schedule/sends/2: at 3 s 's' still receives from 'a', until 4 s "
                  "(/schedule/sends/0)",
                  "/schedule/sends/3: at 3 s 'a' still sends to 's', until 4 s "
                  "(/schedule/sends/0)"));
}

TEST(VerifySchedule, AcceptsRoundingWithinTheTolerance) {
  Plan plan = good_plan();
  for (ScheduledSend& send : plan.schedule->sends) send.time.value *= 1 - 5e-7;
  EXPECT_THAT(verify(plan, triangle()).faults, IsEmpty());
}

TEST(VerifySchedule, NamesTenFaultsAtMost) {
  Plan plan = good_plan();
  std::vector<ScheduledSend>& sends = plan.schedule->sends;
  const ScheduledSend last = sends.back();
  sends.pop_back();
  for (int part = 0; part < 16; ++part) sends.push_back({1, 2, 1, last.start, {4}, 0.25});
  EXPECT_EQ(verify(plan, triangle()).faults.size(), 10);
}

// The overhead is part of a segment's time.
TEST(VerifySchedule, CountsTheOverheadOfThePlansSegments) {
  platforms::PlatformBuilder builder("small");
  const auto from = builder.node_named("s");
  const auto to = builder.node_named("a");
  builder.add_arc({from, to, {8}, {0}, {0.5}});
  const platforms::Platform platform = std::move(builder).build();
  Plan plan = two_chains();
  plan.nodes = {"s", "a"};
  plan.throughput = {4};
  plan.broadcast_trees = {{{4}, {{0, 1}}, {}}};
  plan.schedule = {{1}, {4}, {1}, {{0, 0, 1, {0}, {1}, 4}}};
  EXPECT_THAT(verify(plan, platform).faults, IsEmpty());
  plan.schedule = {{0.5}, {8}, {1}, {{0, 0, 1, {0}, {0.5}, 4}}};
  EXPECT_THAT(verify(plan, platform).faults,
              ElementsAre("/schedule/sends/0: 4 bytes from 's' to 'a' take 1 s, not 0.5 s"));
}

TEST(VerifySchedule, RefusesAModelWithoutSchedules) {
  Plan plan = good_plan();
  plan.model = "bounded-multi-port";
  EXPECT_THAT(
      verify(plan, triangle()).faults,
      ElementsAre("/schedule: a schedule needs the model one-port, not bounded-multi-port"));
}

}  // namespace
}  // namespace espalier::planner::verify_schedule_test
