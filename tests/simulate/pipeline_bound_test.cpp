// The pipeline formula: exact if no host waits for another, and always a lower bound.
#include "simulate/search/pipeline_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "planner/plan/segment_assignment.hpp"
#include "planner/problem/collective.hpp"
#include "simulate/transport/engine_run.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/simulate/every_segment.hpp"

namespace espalier::simulate::pipeline_bound_test {
namespace {

struct Times {
  double bound_s;
  double run_s;
};

struct Cut {
  std::uint64_t count;     // segments of 1000 bytes
  std::uint64_t rest = 0;  // bytes of the last one; 0: a whole one
  std::optional<BytesPerSecond> compute{};
  std::uint64_t receives = planner::kReceivesInFlight;
};

Times times_of(const planner::Plan& plan, const platforms::Platform& platform,
               platforms::Model model, const Cut& cut) {
  const Flows flows(plan, platform, plan.latency_occupies);
  const Bytes rest{cut.rest > 0 ? cut.rest : 1000};
  const platforms::OccupationOptions whole{{1000}, plan.latency_occupies};
  const Holdings full(flows, platform, model, whole);
  const Holdings last(flows, platform, model, {rest, plan.latency_occupies});
  Assignments assignments(plan);
  const std::uint64_t bytes = (cut.count - 1) * 1000 + rest.value;
  const std::vector<planner::SegmentGrid> grids(assignments.blocks().size(), {bytes, 1000});
  assignments.end_at(grids);
  Task task{flows, full, last, planner::source_index(plan),
            combining_at(cut.compute, {1000}, {cut.rest})};
  task.assign_segments(assignments, grids);
  const std::size_t resources = platforms::occupation(platform, model, whole).resources.size();
  const EngineTimes run = run_engines({plan, flows, assignments, grids}, task,
                                      {window_for(plan.operation), cut.receives}, resources, {});
  return {pipeline_bound(task, assignments, resources).value,
          *std::ranges::max_element(run.done_s)};
}

Times times_of(const platforms::Platform& platform, std::string_view source,
               std::string_view algorithm, const Cut& cut,
               planner::Operation operation = planner::Operation::kBroadcast) {
  const planner::Collective collective = testing::collective_of(platform, source, operation);
  const planner::Plan plan = planner::make_plan(
      collective, algorithm,
      planner::run(planner::find_algorithm(algorithm, operation), collective, {}), {1000});
  return times_of(plan, platform, platforms::Model::kOnePort, cut);
}

// a -> b -> c -> d, 2, 5 and 3 s per byte.
TEST(PipelineBound, IsExactForAChain) {
  const auto platform =
      testing::small_platform({"a", "b", "c", "d"}, {{"a", "b", 2}, {"b", "c", 5}, {"c", "d", 3}});
  const Times whole = times_of(platform, "a", "chain", {10, 0});
  EXPECT_NEAR(whole.bound_s, (2 + 5 + 3 + 9 * 5) * 1e3, 1e-6);
  EXPECT_NEAR(whole.run_s, whole.bound_s, 1e-6);
  const Times one = times_of(platform, "a", "chain", {1, 10});
  EXPECT_NEAR(one.bound_s, (2 + 5 + 3) * 10, 1e-6);
  EXPECT_NEAR(one.run_s, one.bound_s, 1e-6);
  // The last segment arrives at b, at 2 s per byte, while b still sends the previous one.
  const Times shorter = times_of(platform, "a", "chain", {10, 100});
  EXPECT_NEAR(shorter.bound_s, 2e3 + 9 * 5e3 + (5 + 3) * 100, 1e-6);
  EXPECT_NEAR(shorter.run_s, shorter.bound_s + 2.5e3, 1e-6);  // it waits while c sends the ninth
}

TEST(PipelineBound, IsExactForAFlatTree) {
  const auto platform =
      testing::small_platform({"a", "b", "c", "d"}, {{"a", "b", 2}, {"a", "c", 5}, {"a", "d", 3}});
  const Times times = times_of(platform, "a", "flat", {7, 0});
  EXPECT_NEAR(times.bound_s, 7 * (2 + 5 + 3) * 1e3, 1e-6);
  EXPECT_NEAR(times.run_s, times.bound_s, 1e-6);
}

// In the opposite direction: d's first segment reaches the root after 3 + 5 + 2 s per byte and 0.5
// s per byte of combining at each of three hosts.
TEST(PipelineBound, IsExactForAChainThatReduces) {
  const auto platform =
      testing::small_platform({"a", "b", "c", "d"}, {{"b", "a", 2}, {"c", "b", 5}, {"d", "c", 3}});
  const Times times = times_of(platform, "a", "chain", {10, 0, BytesPerSecond{2}, 100},
                               planner::Operation::kReduce);
  EXPECT_NEAR(times.bound_s, (3 + 5 + 2 + 3 * 0.5 + 9 * 5) * 1e3, 1e-6);
  EXPECT_NEAR(times.run_s, times.bound_s, 1e-6);
  // With 8 s per byte for combining, the hosts are the bottleneck.
  const Times slow = times_of(platform, "a", "chain", {10, 0, BytesPerSecond{1. / 8}, 100},
                              planner::Operation::kReduce);
  EXPECT_NEAR(slow.bound_s, (3 + 5 + 2 + 3 * 8 + 9 * 8) * 1e3, 1e-6);
  EXPECT_NEAR(slow.run_s, slow.bound_s, 1e-6);
}

// All segments pass a's in-port; the last of three is added when it has arrived.
TEST(PipelineBound, IsExactForAFlatReduce) {
  const auto platform =
      testing::small_platform({"a", "b", "c", "d"}, {{"b", "a", 2}, {"c", "a", 5}, {"d", "a", 3}});
  const Times times =
      times_of(platform, "a", "flat", {7, 0, BytesPerSecond{2}, 100}, planner::Operation::kReduce);
  EXPECT_NEAR(times.bound_s, (7 * (2 + 5 + 3) + 0.5) * 1e3, 1e-6);
  EXPECT_NEAR(times.run_s, times.bound_s, 1e-6);
}

// Two hosts, links of 1 s per byte and 9000 s of latency: there are buffers for what is in flight.
TEST(PipelineBound, IsExactForAReduceOverALongLink) {
  platforms::PlatformBuilder builder("long");
  const auto a = builder.node_named("a");
  const auto b = builder.node_named("b");
  builder.add_arc({b, a, {1}, Seconds{9000}, {}});
  const platforms::Platform platform = std::move(builder).build();
  const Times times = times_of(platform, "a", "chain", {9}, planner::Operation::kReduce);
  EXPECT_NEAR(times.bound_s, 9 * 1000 + 9000, 1e-6);
  EXPECT_NEAR(times.run_s, times.bound_s, 1e-6);
}

class PipelineBoundUnder : public ::testing::TestWithParam<testing::OperationUnderModel> {};

TEST_P(PipelineBoundUnder, IsALowerBound) {
  constexpr double kRounding = 1e-9;
  const auto& [operation, entry] = GetParam();
  std::size_t close = 0;
  std::size_t all = 0;
  const auto check = [&](const testing::DrawnPlatform& drawn, const std::string& trace) {
    const planner::Collective collective(std::get<0>(GetParam()), drawn.platform, drawn.source,
                                         std::get<1>(GetParam()).model,
                                         {{1000}, drawn.options.latency_occupies});
    const bool reduces = planner::reduces(collective.operation());
    for (const planner::Algorithm& algorithm : planner::parse_algorithms(
             reduces ? "optimal,grow,binomial,binary" : "optimal,grow,binomial,split-binary",
             collective.operation())) {
      const planner::Plan plan = planner::make_plan(
          collective, algorithm.name, planner::run(algorithm, collective, {}), {1000});
      for (const std::uint64_t count : {1, 2, 7, 60}) {
        for (const std::uint64_t rest : {0, 13}) {
          Cut cut{count, rest};
          if (reduces && count != 2) {
            cut.compute = BytesPerSecond{count == 1 ? 1e9 : 5e7};
            cut.receives = count == 7 ? 1 : 4;
          }
          SCOPED_TRACE(trace + ", " + algorithm.name);
          const Times times = times_of(plan, drawn.platform, collective.model(), cut);
          EXPECT_GT(times.bound_s, 0);
          EXPECT_LE(times.bound_s, times.run_s * (1 + kRounding));
          close += times.run_s < 1.01 * times.bound_s ? 1 : 0;
          ++all;
        }
      }
    }
  };
  testing::for_each_platform(operation, 3, 7, entry.model, check);
  // The bound must be close in many cases to be useful.
  EXPECT_GT(close, all / (operation == planner::Operation::kBroadcast ? 3 : 5));
}

INSTANTIATE_TEST_SUITE_P(Models, PipelineBoundUnder, testing::every_operation_and_model(),
                         testing::name_of_case);

}  // namespace
}  // namespace espalier::simulate::pipeline_bound_test
