#include "planner/plan/plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "tests/planner/plan/plans.hpp"

namespace espalier::planner::plan_test {
namespace {

using namespace ::testing;

// --- the file ---

TEST(PlanJson, LooksAsDocumented) {
  EXPECT_EQ(to_json(two_chains()), R"({
  "format": "espalier-plan",
  "version": 1,
  "operation": "broadcast",
  "platform": "two racks",
  "source": "a",
  "model": "one-port",
  "algorithm": "optimal",
  "nodes": ["a", "b", "c"],
  "slice_bytes": 1048576,
  "throughput_Bps": 91000000,
  "optimum_Bps": 91000000,
  "broadcast_trees": [
    {"rate_Bps": 60000000,
     "edges": [[0, 2], [2, 1]]},
    {"rate_Bps": 31000000,
     "edges": [[0, 1], [1, 2]],
     "via": {"1-2": ["sw"]}}
  ]
}
)");
}

TEST(PlanJson, RoundTrips) {
  Plan plan = two_chains();
  expect_same(parse_plan(to_json(plan), "p.json"), plan);

  plan.optimum.reset();
  plan.latency_occupies = true;
  plan.segment = {std::uint64_t{1} << 40};
  plan.platform = "quotes \" and \\ and \n and \u00fc";
  plan.nodes[1] = "b\"b";
  plan.broadcast_trees[1].via[{1, 2}] = {"s w", "\"", "x-y"};
  plan.broadcast_trees[0].colors = {0, 1};
  plan.broadcast_trees[1].colors = {1, 0};
  plan.broadcast_trees[1].exchange = {{1, 2}};
  plan.broadcast_trees[1].latencies = {{0}, {1.0 / 3}};
  EXPECT_NO_THROW(check_structure(plan));
  expect_same(parse_plan(to_json(plan), "p.json"), plan);
}

TEST(PlanJson, ReductionsRoundTripWithTheirEdgesUpwards) {
  for (const Plan& plan : {reduce_chains(), allreduce_chains()}) {
    SCOPED_TRACE(name_of(plan.operation));
    EXPECT_NO_THROW(check_structure(plan));
    const std::string text = to_json(plan);
    expect_same(parse_plan(text, "p.json"), plan);
    EXPECT_THAT(text, HasSubstr("\"reduce_trees\": [\n    {\"rate_Bps\": 60000000,\n"
                                "     \"edges\": [[2, 0], [1, 2]]}"));
    EXPECT_THAT(text, HasSubstr("\"edges\": [[1, 0], [2, 1]],\n     \"via\": {\"2-1\": [\"sw\"]}"));
  }
}

TEST(PlanJson, AScheduleLooksAsDocumented) {
  const std::string text = to_json(scheduled_chains());
  EXPECT_EQ(text.substr(text.find(",\n  \"schedule\"")), R"(,
  "schedule": {
    "period_s": 0.5,
    "throughput_Bps": 6291456,
    "slices": [2, 1],
    "sends": [
      [0, 0, 2, 0, 0.2, 2097152],
      [0, 2, 1, 0, 0.125, 1310720],
      [1, 0, 1, 0.2, 0.1, 1048576],
      [1, 1, 2, 0.25, 0.1, 1048576],
      [0, 2, 1, 0.375, 0.125, 786432]
    ]
  }
}
)");
}

TEST(PlanJson, AScheduleRoundTripsInEveryDouble) {
  std::mt19937_64 random(8);
  Plan plan = scheduled_chains();
  EXPECT_NO_THROW(check_structure(plan));
  expect_same(parse_plan(to_json(plan), "p.json"), plan);
  for (int i = 0; i < 1000; ++i) {
    const auto draw = [&] { return std::ldexp(double(random()), int(random() % 900) - 450); };
    plan.schedule->period = {draw()};
    plan.schedule->throughput = {draw()};
    plan.schedule->segments[1] = random();
    plan.schedule->sends[2].start = {draw()};
    plan.schedule->sends[2].time = {draw()};
    plan.schedule->sends[2].bytes = draw();
    expect_same(parse_plan(to_json(plan), "p.json"), plan);
  }
}

TEST(PlanJson, WritesColorsExchangeEdgesAndLatenciesWhereThereAreAny) {
  Plan plan = two_chains();
  plan.broadcast_trees[0].colors = {0, 1};
  plan.broadcast_trees[0].exchange = {{2, 1}};
  plan.broadcast_trees[0].latencies = {{2.5e-4}, {0}};
  EXPECT_THAT(to_json(plan), HasSubstr(R"(
     "edges": [[0, 2], [2, 1]],
     "colors": [0, 1],
     "exchange": [[2, 1]],
     "latencies_s": [0.00025, 0]},
)"));
}

TEST(PlanJson, RoundTripsEveryDouble) {
  std::mt19937_64 random(7);
  Plan plan = two_chains();
  for (int i = 0; i < 1000; ++i) {
    plan.broadcast_trees[0].rate.value =
        std::ldexp(static_cast<double>(random()), int(random() % 900) - 450);
    plan.throughput.value = std::nextafter(plan.broadcast_trees[0].rate.value, 0);
    expect_same(parse_plan(to_json(plan), "p.json"), plan);
  }
}

TEST(PlanJson, NeverWritesNonFiniteNumbers) {
  Plan plan = two_chains();
  plan.throughput.value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)to_json(plan), std::invalid_argument);
}

TEST(PlanJson, NamesThatAreNotUtf8DoNotBreakTheFile) {
  Plan plan = two_chains();
  plan.platform = "caf\xe9";
  EXPECT_EQ(parse_plan(to_json(plan), "p.json").platform, "caf\uFFFD");
}

// --- shapes ---

TEST(Shape, StepsAreBetweenStartsAndEndsOfSends) {
  // 0, 0.125, 0.2, 0.25, 0.3, 0.35, 0.375, 0.5
  EXPECT_EQ(step_count(*scheduled_chains().schedule), 7U);
}

//        2
//      / | \ .
//     0  4  1
//        |
//        3        the edges listed from the leaves up
TEST(Shape, DepthAndOutDegreeDoNotDependOnTheOrderOfEdges) {
  const PlanTree tree = {{1.0}, {{4, 3}, {2, 1}, {2, 4}, {2, 0}}, {}};
  EXPECT_EQ(depth_of(tree, 2), 2U);
  EXPECT_EQ(out_degree_of(tree), 3U);
}

TEST(Shape, DepthOfALongChainListedBackwards) {
  constexpr std::uint32_t kNodes = 100000;
  PlanTree chain;
  for (std::uint32_t node = kNodes - 1; node > 0; --node) chain.edges.push_back({node - 1, node});
  EXPECT_EQ(depth_of(chain, 0), kNodes - 1);
  EXPECT_EQ(out_degree_of(chain), 1U);
}

}  // namespace
}  // namespace espalier::planner::plan_test
