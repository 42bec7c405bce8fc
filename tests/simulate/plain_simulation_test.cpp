// Compares the simulator with the plain simulation, and checks bounds on every run, for every
// algorithm under every model.
#include "tests/simulate/plain_simulation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "planner/solve/make_plan.hpp"
#include "simulate/simulate.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"

namespace espalier::simulate::plain_simulation_test {
namespace {

using espalier::testing::Dice;
using espalier::testing::DrawnPlatform;
using espalier::testing::for_each_platform;
using espalier::testing::PlainRun;
using espalier::testing::simulate_plainly;

constexpr Bytes kSegment{65536};

planner::Plan plan_of(const planner::Instance& instance, std::string_view algorithm) {
  const planner::Outcome outcome = espalier::testing::run(algorithm, instance);
  planner::Plan plan = planner::make_plan(instance, algorithm, outcome, kSegment);
  plan.optimum = planner::prove_optimum(instance, {}).bound;
  return plan;
}

// The two add the times of a send in different orders, so results differ by rounding. Returns the
// largest number of sends that had to wait at a time.
std::size_t expect_like_plain(const planner::Plan& plan, const platforms::Platform& platform,
                              Bytes message, std::uint64_t window) {
  Options options;
  options.window = window;
  const Simulation simulation = Simulator(plan, platform, options).run(message);
  const PlainRun plain =
      simulate_plainly(plan, platform, message.value, {window}, simulation.tick.value);
  EXPECT_EQ(simulation.done.size(), plain.done_s.size());
  for (std::size_t host = 0; host < plain.done_s.size(); ++host) {
    EXPECT_NEAR(simulation.done[host].value, plain.done_s[host], 1e-9 * plain.done_s[host])
        << "host " << host;
  }
  return plain.most_waiting;
}

// The time of a tree's first segment along its longest path, a lower bound.
double longest_path(const planner::Plan& plan, const platforms::Platform& platform,
                    std::size_t tree) {
  planner::Plan alone = plan;
  alone.broadcast_trees = {plan.broadcast_trees[tree]};
  alone.throughput = alone.broadcast_trees.front().rate;
  const Flows flows(alone, platform, plan.latency_occupies);
  const Holdings holdings(flows, platform, platforms::parse_model(plan.model),
                          {plan.segment, plan.latency_occupies});
  std::vector<double> at(plan.nodes.size(), 0);
  for (std::size_t round = 0; round < plan.nodes.size(); ++round) {
    for (std::size_t i = 0; i < flows.all().size(); ++i) {
      const Flow& flow = flows.all()[i];
      at[flow.child] = at[flow.parent] + holdings.seconds(i) + flow.latency_s;
    }
  }
  return *std::ranges::max_element(at);
}

void expect_within_bounds(const planner::Plan& plan, const platforms::Platform& platform,
                          Bytes message) {
  const Simulation simulation = Simulator(plan, platform).run(message);
  constexpr double kRounding = 1e-9;
  const double makespan = simulation.makespan.value * (1 + kRounding);
  EXPECT_GE(makespan, static_cast<double>(message.value) / plan.optimum->value);
  for (const Seconds busy : simulation.busy) EXPECT_GE(makespan, busy.value);
  if (message.value >= kSegment.value) {
    const auto first = planner::assignments_of(plan).back().tree_of(0);
    EXPECT_GE(makespan, longest_path(plan, platform, first));
  }
}

class EveryPlan : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(EveryPlan, RunsAsInThePlainSimulation) {
  const auto& [algorithm, model_name] = GetParam();
  const platforms::Model model = platforms::parse_model(model_name);
  std::size_t most_waiting = 0;
  for_each_platform(
      espalier::testing::draws(3), 6, model,
      [&, &algorithm = algorithm](const DrawnPlatform& drawn, const std::string& trace) {
        SCOPED_TRACE(trace);
        const planner::Instance instance = drawn.under(model);
        if (!planner::find_algorithm(algorithm).entry->is_for(instance)) return;
        const planner::Plan plan = plan_of(instance, algorithm);
        Dice dice(plan.nodes.size() + plan.broadcast_trees.size());
        const std::uint64_t segments = dice.from_to(1, 30);
        const Bytes message{segments * kSegment.value -
                            (dice.chance(0.5) ? dice.below(kSegment.value) : 0)};
        SCOPED_TRACE(fmt::format("{} bytes", message.value));
        most_waiting = std::max(
            most_waiting, expect_like_plain(plan, drawn.platform, message, dice.from_to(1, 4)));
        expect_within_bounds(plan, drawn.platform, message);
      });
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryPlan,
    ::testing::Combine(::testing::ValuesIn(espalier::testing::algorithm_names()),
                       ::testing::ValuesIn(espalier::testing::model_names())),
    [](const auto& of) {
      return espalier::testing::case_name(std::get<0>(of.param)) + "_under_" +
             espalier::testing::case_name(std::get<1>(of.param));
    });

// A single tree under one-port keeps its busiest port busy, so it loses only the fill.
TEST(SingleTree, ReachesItsThroughputAsTheMessageGrows) {
  for_each_platform(
      5, 8, platforms::Model::kOnePort, [](const DrawnPlatform& drawn, const std::string& trace) {
        SCOPED_TRACE(trace);
        if (drawn.platform.hosts().size() < drawn.platform.nodes().size() ||
            !drawn.platform.shared_links().empty()) {
          return;  // relays and shared links are resources of several hosts
        }
        const planner::Plan plan = plan_of(drawn.under(platforms::Model::kOnePort), "grow");
        const Simulation simulation =
            Simulator(plan, drawn.platform).run(Bytes{3000 * kSegment.value});
        EXPECT_GT(simulation.achieved.value, 0.99 * plan.throughput.value);
        EXPECT_LT(simulation.achieved.value, (1 + 1e-9) * plan.throughput.value);
      });
}

}  // namespace
}  // namespace espalier::simulate::plain_simulation_test
