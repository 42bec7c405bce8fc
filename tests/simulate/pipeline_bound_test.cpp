// The pipeline's formula: exact where nothing waits for anything else, and never too much.
#include "simulate/pipeline_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/make_plan.hpp"
#include "planner/slice_dealer.hpp"
#include "simulate/event_loop.hpp"
#include "tests/planner/random_platforms.hpp"
#include "tests/planner/small_platform.hpp"

namespace espalier::simulate {
namespace {

struct Times {
  double bound_s;
  double run_s;
};

// `count` slices of 1000 bytes, the last of `rest` if that is not 0.
Times times_of(const planner::Instance& instance, const planner::Plan& plan, std::uint64_t count,
               std::uint64_t rest) {
  const Flows flows(plan, instance.platform(), plan.latency_occupies);
  const Holdings full(flows, instance.platform(), instance.model(),
                      {{1000}, plan.latency_occupies});
  const Holdings last(flows, instance.platform(), instance.model(),
                      {{rest > 0 ? rest : 1000}, plan.latency_occupies});
  const Deal deal(plan);
  Task task{flows, full, last, planner::source_index(plan)};
  task.share_out(deal, count, rest > 0);
  const std::size_t resources = instance.resource_count();
  const GreedyRun run = run_greedily(task, deal, {}, resources, {});
  return {pipeline_bound(task, resources).value, *std::ranges::max_element(run.done_s)};
}

Times times_of(const platforms::Platform& platform, std::string_view source,
               std::string_view algorithm, std::uint64_t count, std::uint64_t rest) {
  const planner::Instance instance = testing::instance_of(platform, source);
  return times_of(
      instance, planner::make_plan(instance, algorithm, testing::run(algorithm, instance), {1000}),
      count, rest);
}

// a -> b -> c -> d, 2, 5 and 3 s a byte.
TEST(PipelineBound, IsExactForAChain) {
  const auto platform =
      testing::small_platform({"a", "b", "c", "d"}, {{"a", "b", 2}, {"b", "c", 5}, {"c", "d", 3}});
  const Times whole = times_of(platform, "a", "chain", 10, 0);
  EXPECT_NEAR(whole.bound_s, (2 + 5 + 3 + 9 * 5) * 1e3, 1e-6);
  EXPECT_NEAR(whole.run_s, whole.bound_s, 1e-6);
  const Times one = times_of(platform, "a", "chain", 1, 10);
  EXPECT_NEAR(one.bound_s, (2 + 5 + 3) * 10, 1e-6);
  EXPECT_NEAR(one.run_s, one.bound_s, 1e-6);
  // The last slice: 2 s a byte of it come while b still sends the one before.
  const Times shorter = times_of(platform, "a", "chain", 10, 100);
  EXPECT_NEAR(shorter.bound_s, 2e3 + 9 * 5e3 + (5 + 3) * 100, 1e-6);
  EXPECT_NEAR(shorter.run_s, shorter.bound_s + 2.5e3, 1e-6);  // it finds c sending the ninth
}

TEST(PipelineBound, IsExactForAFlatTree) {
  const auto platform =
      testing::small_platform({"a", "b", "c", "d"}, {{"a", "b", 2}, {"a", "c", 5}, {"a", "d", 3}});
  const Times times = times_of(platform, "a", "flat", 7, 0);
  EXPECT_NEAR(times.bound_s, 7 * (2 + 5 + 3) * 1e3, 1e-6);
  EXPECT_NEAR(times.run_s, times.bound_s, 1e-6);
}

class PipelineBoundUnder : public ::testing::TestWithParam<platforms::ModelEntry> {};

TEST_P(PipelineBoundUnder, IsNeverTooMuch) {
  constexpr double kRounding = 1e-9;
  std::size_t close = 0;
  std::size_t all = 0;
  const auto check = [&](const testing::DrawnPlatform& drawn, const std::string& trace) {
    const planner::Instance instance(drawn.platform, drawn.source, GetParam().model,
                                     {{1000}, drawn.options.latency_occupies});
    for (const char* algorithm : {"optimal", "grow", "binomial", "split-binary"}) {
      const planner::Plan plan =
          planner::make_plan(instance, algorithm, testing::run(algorithm, instance), {1000});
      for (const std::uint64_t count : {1, 2, 7, 60}) {
        for (const std::uint64_t rest : {0, 13}) {
          SCOPED_TRACE(trace + ", " + algorithm);
          const Times times = times_of(instance, plan, count, rest);
          EXPECT_GT(times.bound_s, 0);
          EXPECT_LE(times.bound_s, times.run_s * (1 + kRounding));
          close += times.run_s < 1.01 * times.bound_s ? 1 : 0;
          ++all;
        }
      }
    }
  };
  testing::for_each_platform(3, 7, GetParam().model, check);
  EXPECT_GT(close, all / 3);  // or it would be of no use
}

INSTANTIATE_TEST_SUITE_P(Models, PipelineBoundUnder,
                         ::testing::ValuesIn(platforms::models().begin(),
                                             platforms::models().end()),
                         [](const auto& tested) { return testing::case_name(tested.param.name); });

}  // namespace
}  // namespace espalier::simulate
