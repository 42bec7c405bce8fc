// Inputs that a simulator refuses.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "simulate/simulate.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/planner/references/two_chains.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::simulate::refusals_test {
namespace {

using espalier::testing::small_platform;
using espalier::testing::triangle;
using espalier::testing::two_chains;

std::string refusal(const planner::Plan& plan, const platforms::Platform& platform,
                    const Options& options = {}) {
  return espalier::testing::refusal([&] { const Simulator simulator(plan, platform, options); });
}

TEST(Simulator, AcceptsAValidPlan) {
  EXPECT_EQ(refusal(two_chains(), triangle()), "(not refused)");
}

TEST(Simulator, RefusesAnotherPlatform) {
  planner::Plan plan = two_chains();
  plan.platform = "large";
  EXPECT_EQ(refusal(plan, triangle()),
            "/platform: the plan is for platform 'large', not for 'small'");
}

TEST(Simulator, RefusesAnEdgeWithoutALink) {
  const platforms::Platform line = small_platform({"s", "a", "b"}, {{"s", "a", 1}, {"a", "b", 1}});
  EXPECT_EQ(refusal(two_chains(), line),
            "/broadcast_trees/1/edges/0: the platform has no link 's' -> 'b'");
}

TEST(Simulator, RefusesAnIncompleteTree) {
  planner::Plan plan = two_chains();
  plan.broadcast_trees[1].edges.pop_back();
  EXPECT_NE(refusal(plan, triangle()).find("/broadcast_trees/1"), std::string::npos);
}

TEST(Simulator, RefusesAnUnknownModel) {
  planner::Plan plan = two_chains();
  plan.model = "one-prot";
  EXPECT_TRUE(refusal(plan, triangle()).starts_with("/model: unknown model 'one-prot'"));
}

TEST(Simulator, RefusesAScheduleThatPortsCannotKeep) {
  planner::Plan plan = two_chains();
  planner::PlanSchedule schedule{{8}, {1}, {1, 1}, {}};
  schedule.sends = {{0, 0, 1, {0}, {4}, 4},
                    {1, 2, 1, {0}, {4}, 4},
                    {1, 0, 2, {4}, {4}, 4},
                    {0, 1, 2, {4}, {4}, 4}};
  plan.schedule = schedule;
  EXPECT_EQ(refusal(plan, triangle()),
            "/schedule/sends/1: at 0 s 'a' still receives from 's', until 4 s (/schedule/sends/0)");
  Options greedy;
  greedy.follow_schedule = false;
  EXPECT_EQ(refusal(plan, triangle(), greedy), "(not refused)");
}

TEST(Simulator, RefusesAScheduleForAnotherSegment) {
  planner::Plan plan = two_chains();
  plan.schedule = espalier::testing::schedule_of_two_chains();
  EXPECT_EQ(refusal(plan, triangle()), "(not refused)");
  Options options;
  options.segment = Bytes{8};
  EXPECT_EQ(refusal(plan, triangle(), options), "/schedule: is for segments of 4 B, not of 8 B");
}

TEST(Simulator, RefusesOptionsOutOfRange) {
  Options options;
  options.window = 0;
  EXPECT_THROW(Simulator(two_chains(), triangle(), options), std::invalid_argument);
  options.window = kMostWindow + 1;
  EXPECT_THROW(Simulator(two_chains(), triangle(), options), std::invalid_argument);
  options.window = 1;
  options.segment = Bytes{0};
  EXPECT_THROW(Simulator(two_chains(), triangle(), options), std::invalid_argument);
}

}  // namespace
}  // namespace espalier::simulate::refusals_test
