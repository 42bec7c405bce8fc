// Simulated runs in synchronised rounds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/rounds.hpp"
#include "planner/solve/make_plan.hpp"
#include "simulate/simulate.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::simulate::rounds_run_test {
namespace {

using espalier::testing::collective_of;
using espalier::testing::complete_platform;
using planner::Operation;

constexpr std::uint64_t kSegment = 1000;
constexpr double kRate = 1000;  // a segment per second

planner::Plan plan_of(const char* algorithm, Operation operation,
                      const platforms::Platform& platform) {
  const planner::Collective collective = collective_of(platform, "n0", operation);
  return make_plan(collective, algorithm,
                   run(planner::find_algorithm(algorithm, operation), collective, {}),
                   Bytes{kSegment});
}

double in_rounds(const planner::Plan& plan, const platforms::Platform& platform,
                 std::uint64_t segments) {
  return Simulator(plan, platform, {.rounds = true}).run({segments * kSegment}).makespan.value;
}

// The rounds of a message: each of the two trees carries half of its segments, on every edge one in
// every other round.
std::uint64_t rounds_needed(const std::vector<planner::PlanTree>& trees, std::uint32_t root,
                            engine::Kind kind, std::uint64_t segments) {
  std::uint64_t last = 0;
  for (const planner::PlanTree& tree : trees) {
    for (const std::uint64_t first : engine::first_rounds(tree, root, kind)) {
      last = std::max(last, first + 2 * (segments / 2 - 1));
    }
  }
  return last + 1;
}

// Among equal hosts without latency a round takes as long as a segment.
TEST(RoundsRun, TakesARoundForEachColorOfEachSegment) {
  for (const std::size_t hosts : {3U, 4U, 8U, 13U}) {
    const platforms::Platform platform = complete_platform(hosts, kRate);
    for (const std::uint64_t segments : {2U, 10U, 40U}) {
      SCOPED_TRACE(fmt::format("{} hosts, {} segments", hosts, segments));
      const planner::Plan down = plan_of("two-tree-sanders", Operation::kBroadcast, platform);
      EXPECT_NEAR(in_rounds(down, platform, segments),
                  static_cast<double>(
                      rounds_needed(down.broadcast_trees, 0, engine::Kind::kSpread, segments)),
                  1e-9);
      const planner::Plan up = plan_of("two-tree-sanders", Operation::kReduce, platform);
      const auto needed =
          static_cast<double>(rounds_needed(up.reduce_trees, 0, engine::Kind::kCombine, segments));
      EXPECT_LE(in_rounds(up, platform, segments), needed + 1e-9);
      EXPECT_GE(in_rounds(up, platform, segments), needed - 2);  // leaves may begin early
    }
  }
}

// Both halves keep rounds of their own, and share the ports.
TEST(RoundsRun, AnAllreduceTakesBothHalves) {
  const platforms::Platform platform = complete_platform(8, kRate);
  const planner::Plan plan = plan_of("two-tree-sanders", Operation::kAllreduce, platform);
  EXPECT_GE(in_rounds(plan, platform, 40), 80);
  EXPECT_LE(in_rounds(plan, platform, 40), 120);
}

// A rank begins a round when the one before is complete, so that the network's latency delays every
// round.
TEST(RoundsRun, LatencyDelaysEveryRound) {
  platforms::PlatformBuilder builder("far apart");
  for (const std::string from : {"n0", "n1", "n2", "n3"}) {
    for (const std::string to : {"n0", "n1", "n2", "n3"}) {
      if (from == to) continue;
      builder.add_arc({builder.node_named(from), builder.node_named(to), {kRate}, {0.5}, {}});
    }
  }
  const platforms::Platform platform = std::move(builder).build();
  const planner::Plan plan = plan_of("two-tree-sanders", Operation::kBroadcast, platform);
  const platforms::Platform near = complete_platform(4, kRate);
  const planner::Plan same = plan_of("two-tree-sanders", Operation::kBroadcast, near);
  EXPECT_GT(in_rounds(plan, platform, 40), 1.3 * in_rounds(same, near, 40));
}

TEST(RoundsRun, RefusesPlansThatCannotKeepRounds) {
  const platforms::Platform platform = complete_platform(4, kRate);
  const planner::Plan plan = plan_of("binomial", Operation::kBroadcast, platform);
  try {
    static_cast<void>(Simulator(plan, platform, {.rounds = true}));
    FAIL() << "accepted";
  } catch (const InputError& fault) {
    EXPECT_THAT(fault.what(), ::testing::HasSubstr("rounds need colors"));
  }
}

}  // namespace
}  // namespace espalier::simulate::rounds_run_test
