// The best segment for a plan, compared with a chain's closed form and with a sweep over many
// numbers of segments.
#include "simulate/search/best_segment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "planner/problem/collective.hpp"
#include "simulate/model/overhead.hpp"
#include "simulate/simulate.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/simulate/every_operation.hpp"
#include "tests/simulate/every_segment.hpp"
#include "tests/support/draws.hpp"

namespace espalier::simulate::best_segment_test {
namespace {

using planner::Operation;
using platforms::Model;
using platforms::Platform;

constexpr std::uint64_t kKiB = 1024;

planner::Plan plan_by(std::string_view algorithm, const planner::Collective& collective) {
  const planner::Outcome outcome =
      planner::run(planner::parse_algorithms(algorithm).front(), collective, {});
  return planner::make_plan(collective, algorithm, outcome, planner::kDefaultSegment);
}

planner::Plan plan_by(std::string_view algorithm, const Platform& platform,
                      Operation operation = Operation::kBroadcast) {
  return plan_by(algorithm, planner::Collective(operation, platform, platform.hosts().front(),
                                                Model::kOnePort));
}

double simulated_s(const planner::Plan& plan, const Platform& platform, Bytes segment,
                   Bytes message) {
  Options options;
  options.segment = segment;
  return Simulator(plan, platform, options).run(message).makespan.value;
}

// A chain of four hosts, 1 GB/s in both directions, overhead 10 us per segment. The last host
// receives the last of k segments of s bytes after (k + 2)(10 us + s ns). With k s = M the least
// time is at k = sqrt(2 M / 10^4).
Platform chain() {
  return with_overhead(testing::small_platform({"a", "b", "c", "d"}, {{"a", "b", 1e-9},
                                                                      {"b", "c", 1e-9},
                                                                      {"c", "d", 1e-9},
                                                                      {"b", "a", 1e-9},
                                                                      {"c", "b", 1e-9},
                                                                      {"d", "c", 1e-9}}),
                       kAssumedOverhead);
}

TEST(BestSegment, OfAChainMatchesTheFormula) {
  const Platform platform = chain();
  for (const Operation operation : {Operation::kBroadcast, Operation::kReduce}) {
    const BestSegment best =
        best_segment(plan_by("chain", platform, operation), platform, {8'000'000});
    EXPECT_NEAR(best.makespan.value, 42 * (10e-6 + 200e-6), 0.001 * 42 * 210e-6);
    EXPECT_NEAR(static_cast<double>(best.segment.value), 200e3, 20e3);
  }
}

// k = sqrt(2 M / 10^4) is 447,214 segments, of which only some are simulated.
TEST(BestSegment, OfALongMessageIsExtrapolatedFromAShorterOne) {
  const Platform platform = chain();
  const double message = 1e15;
  const BestSegment best =
      best_segment(plan_by("chain", platform), platform, {static_cast<std::uint64_t>(message)});
  const double segments = std::sqrt(2 * message / 1e4);
  const double seconds = (segments + 2) * (10e-6 + message / segments * 1e-9);
  EXPECT_NEAR(best.makespan.value / seconds, 1, 1e-6);
  const std::uint64_t longest = std::numeric_limits<std::uint64_t>::max() / 2;
  EXPECT_GT(best_segment(plan_by("chain", platform), platform, {longest}).makespan.value, 9.2e9);
}

TEST(BestSegment, WithoutOverheadIsTheSmallest) {
  const Platform platform = testing::complete_platform(4, 1e9);
  const planner::Plan plan = plan_by("chain", platform);
  EXPECT_EQ(best_segment(plan, platform, {kKiB * kKiB}).segment, Bytes{kKiB});
  EXPECT_EQ(best_segment(plan, platform, {kKiB * kKiB}, {5000}).segment.value, 5018U);
  EXPECT_EQ(best_segment(plan, platform, {100}).segment, Bytes{100});
  EXPECT_EQ(best_segment(plan, platform, {1}).segment, Bytes{1});
}

// A source that sends to all hosts itself gains nothing from segments.
TEST(BestSegment, OfAFlatTreeIsTheWholeMessage) {
  const Platform platform = with_overhead(testing::complete_platform(9, 1e9), kAssumedOverhead);
  EXPECT_EQ(best_segment(plan_by("flat", platform), platform, {123'456}).segment, Bytes{123'456});
}

// Compares with every number of segments up to 160, fewer under sanitizers. The claimed makespan is
// that of the simulator.
class BestSegmentUnder : public ::testing::TestWithParam<platforms::ModelEntry> {};

TEST_P(BestSegmentUnder, IsWithinThreePercentOfTheBest) {
  constexpr std::uint64_t kMostSegments = testing::draws(160);
  std::size_t platforms_drawn = 0;
  const auto check = [&](const testing::DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    const Bytes message{kKiB << (platforms_drawn++ * 5 % 17)};  // to 64 MiB
    const Platform platform = with_overhead(drawn.platform, overhead_for(drawn.platform));
    for (const char* algorithm : {"optimal", "best-tree", "two-tree-complete"}) {
      SCOPED_TRACE(algorithm);
      const planner::Plan plan =
          plan_by(algorithm, planner::Collective(Operation::kBroadcast, platform, drawn.source,
                                                 GetParam().model, drawn.options));
      const BestSegment found = best_segment(plan, platform, message);
      EXPECT_EQ(found.makespan.value, simulated_s(plan, platform, found.segment, message));
      const auto best = testing::least_in_segments(message, kMostSegments, [&](Bytes segment) {
        return simulated_s(plan, platform, segment, message);
      });
      EXPECT_LE(found.makespan.value, 1.03 * best.seconds) << found.segment.value;
    }
  };
  testing::for_each_platform(1, 6, GetParam().model, check);
}

INSTANTIATE_TEST_SUITE_P(Models, BestSegmentUnder,
                         ::testing::ValuesIn(platforms::models().begin(),
                                             platforms::models().end()),
                         [](const auto& tested) { return testing::case_name(tested.param.name); });

TEST(BestSegment, RefusesEmptyMessagesAndSegmentsAndPlansOfOtherPlatforms) {
  const Platform platform = chain();
  const planner::Plan plan = plan_by("chain", platform);
  EXPECT_THROW((void)best_segment(plan, platform, {0}), std::invalid_argument);
  EXPECT_THROW((void)best_segment(plan, platform, {1}, {0}), std::invalid_argument);
  EXPECT_THROW((void)best_segment(plan, testing::complete_platform(4, 1e9), {1}), InputError);
  const Platform hosts = testing::complete_platform(4, 1e9);
  const auto parts =
      testing::plan_for({planner::Operation::kAlltoall, false}, {hosts, hosts.hosts().front(), {}},
                        platforms::Model::kOnePort, "flat", {65536});
  EXPECT_THROW((void)best_segment(*parts, hosts, {65536}), InputError);
}

}  // namespace
}  // namespace espalier::simulate::best_segment_test
