// Plans of barriers, and the bound on their time.
#include "simulate/search/choose_barrier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "planner/check/verify.hpp"
#include "planner/schedule/barrier_bound.hpp"
#include "simulate/simulate.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::simulate::choose_barrier_test {
namespace {

using planner::Operation;
using platforms::Model;
using platforms::Platform;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// a - b - c - d in a line, both ways.
Platform line() {
  std::vector<testing::Link> links;
  for (const auto& [left, right] :
       {std::pair("a", "b"), std::pair("b", "c"), std::pair("c", "d")}) {
    for (const auto& [from, to] : {std::pair(left, right), std::pair(right, left)}) {
      links.push_back({.from = from, .to = to, .seconds_per_byte = 1e-9, .latency_s = 1e-3});
    }
  }
  return testing::small_platform({"a", "b", "c", "d"}, links);
}

// By Floyd and Warshall.
double largest_latency_s(const Platform& platform) {
  const std::size_t nodes = platform.nodes().size();
  std::vector<double> between(nodes * nodes, std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < nodes; ++i) between[i * nodes + i] = 0;
  for (const platforms::Arc& arc : platform.arcs()) {
    double& known = between[index_of(arc.from) * nodes + index_of(arc.to)];
    known = std::min(known, arc.latency.value);
  }
  for (std::size_t via = 0; via < nodes; ++via) {
    for (std::size_t i = 0; i < nodes * nodes; ++i) {
      const double around = between[i / nodes * nodes + via] + between[via * nodes + i % nodes];
      between[i] = std::min(between[i], around);
    }
  }
  double largest = 0;
  for (const platforms::NodeId from : platform.hosts()) {
    for (const platforms::NodeId to : platform.hosts()) {
      largest = std::max(largest, between[index_of(from) * nodes + index_of(to)]);
    }
  }
  return largest;
}

TEST(BarrierBound, IsTheWayBetweenTheFarthestHosts) {
  const planner::BarrierBound bound =
      planner::barrier_bound(with_overhead(line(), Seconds{1e-5}), Model::kOnePort);
  EXPECT_NEAR(bound.latency.value, 3e-3, 1e-12);
  EXPECT_NEAR(bound.time.value, 3.01e-3, 1e-12);
  EXPECT_EQ(index_of(bound.from) + index_of(bound.to), 3U);
}

TEST(BarrierBound, CountsDoublingsWhereAHostSendsToOneAtATime) {
  const Platform platform = with_overhead(testing::complete_platform(9, 1e9), Seconds{1e-5});
  EXPECT_NEAR(planner::barrier_bound(platform, Model::kOnePort).time.value, 4e-5, 1e-12);
  EXPECT_NEAR(planner::barrier_bound(platform, Model::kMultiPort).time.value, 1e-5, 1e-12);
}

TEST(BarrierBound, RefusesHostsThatCannotHearOfEachOther) {
  const Platform one_way = testing::small_platform({"a", "b"}, {{"a", "b", 1e-9}});
  EXPECT_THAT([&] { planner::barrier_bound(one_way, Model::kOnePort); },
              ThrowsMessage<InfeasibleError>(HasSubstr("'b'")));
}

TEST(ChooseBarrier, GoesThroughTheMiddleUnlessARootIsNamed) {
  const Platform platform = line();
  const Choice choice = choose_barrier(platform, std::nullopt, Model::kOnePort, false);
  EXPECT_TRUE(choice.plan.source == "b" || choice.plan.source == "c");
  // two links up and two down, each with 10 us
  EXPECT_NEAR(choice.makespan.value, 4 * 1.01e-3, 2e-5);
  const Choice via_a = choose_barrier(platform, platform.hosts()[0], Model::kOnePort, false);
  EXPECT_EQ(via_a.plan.source, "a");
  EXPECT_NEAR(via_a.makespan.value, 6 * 1.01e-3, 2e-5);
}

class ChooseBarrierUnder : public ::testing::TestWithParam<std::string> {};

// The plan takes the time that was promised, and no plan is faster than the bound.
TEST_P(ChooseBarrierUnder, IsAValidPlanAndNotBelowTheBound) {
  const Model model = platforms::parse_model(GetParam());
  std::size_t checked = 0;
  testing::for_each_platform(
      Operation::kBarrier, 2, 7, model, [&](const testing::DrawnPlatform& drawn, auto trace) {
        SCOPED_TRACE(trace);
        const Choice choice = choose_barrier(drawn.platform, std::nullopt, model, false);
        const Platform network = with_overhead(drawn.platform, choice.overhead);
        EXPECT_THAT(planner::verify(choice.plan, drawn.platform).faults, IsEmpty());
        EXPECT_EQ(choice.plan.reduce_trees.size(), 1U);
        EXPECT_EQ(choice.plan.broadcast_trees.size(), 1U);
        EXPECT_NEAR(Simulator(choice.plan, network).run(kBarrierMessage).makespan.value,
                    choice.makespan.value, 1e-9 * choice.makespan.value);
        const planner::BarrierBound bound = planner::barrier_bound(network, model);
        EXPECT_NEAR(bound.latency.value, largest_latency_s(network), 1e-12);
        for (const CandidateResult& candidate : choice.candidates) {
          EXPECT_GE(candidate.makespan.value, bound.time.value * (1 - 1e-9)) << label_of(candidate);
          EXPECT_GE(candidate.makespan, choice.makespan) << label_of(candidate);
        }
        ++checked;
      });
  EXPECT_GT(checked, 10U);
}

INSTANTIATE_TEST_SUITE_P(Models, ChooseBarrierUnder, ::testing::ValuesIn(testing::model_names()),
                         [](const auto& tested) { return testing::case_name(tested.param); });

}  // namespace
}  // namespace espalier::simulate::choose_barrier_test
