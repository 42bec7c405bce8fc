// Runs of the executor's engines: closed forms, and bounds on random platforms.
#include "simulate/transport/engine_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "simulate/simulate.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/simulate/every_operation.hpp"

namespace espalier::simulate::engine_run_test {
namespace {

using espalier::testing::complete_platform;
using espalier::testing::Dice;
using espalier::testing::DrawnPlatform;
using espalier::testing::for_each_platform;
using planner::Operation;
using platforms::Model;
using Kind = espalier::testing::OperationCase;
using espalier::testing::plan_for;

constexpr Bytes kSegment{65536};

DrawnPlatform equal_hosts(std::size_t count, double bandwidth) {
  platforms::Platform platform = complete_platform(count, bandwidth);
  const platforms::NodeId source = platform.hosts().front();
  return {std::move(platform), source, {}};
}

double makespan(const planner::Plan& plan, const platforms::Platform& platform, Bytes message,
                const Options& options = {}) {
  return Simulator(plan, platform, options).run(message).makespan.value;
}

// --- closed forms: one-port, n equal hosts, T seconds per segment ---

constexpr double kRate = 65536;  // a segment per second

// The root sends k segments to each of n - 1 hosts.
TEST(EngineRun, AFlatScatterTakesAsLongAsTheRootsPort) {
  const DrawnPlatform hosts = equal_hosts(5, kRate);
  const auto plan = plan_for({Operation::kScatter, true}, hosts, Model::kOnePort, "flat", kSegment);
  for (const std::uint64_t k : {1, 2, 9}) {
    EXPECT_NEAR(makespan(*plan, hosts.platform, {5 * k * kSegment.value}), 4.0 * double(k), 1e-9);
  }
}

// All parts go along the chain: the first link carries 4 k segments. Segments of the part for the
// last host leave in turns with the others', so it has its last one at most 3 hops after that.
TEST(EngineRun, AChainScatterIsAPipeline) {
  const DrawnPlatform hosts = equal_hosts(5, kRate);
  const auto plan =
      plan_for({Operation::kScatter, true}, hosts, Model::kOnePort, "chain", kSegment);
  for (const std::uint64_t k : {1, 10, 100}) {
    const double took = makespan(*plan, hosts.platform, {5 * k * kSegment.value});
    EXPECT_GE(took, 4.0 * double(k)) << k;
    EXPECT_LE(took, 4.0 * double(k) + 3 + 1e-9) << k;
  }
}

TEST(EngineRun, AFlatGatherTakesAsLongAsTheRootsPort) {
  const DrawnPlatform hosts = equal_hosts(5, kRate);
  const auto plan = plan_for({Operation::kGather, true}, hosts, Model::kOnePort, "flat", kSegment);
  EXPECT_NEAR(makespan(*plan, hosts.platform, {5 * 3 * kSegment.value}), 12, 1e-9);
}

// A ring: every part crosses n - 1 links, and all links are busy all the time.
planner::Plan ring_of(Operation operation, std::uint32_t n) {
  planner::Plan plan;
  plan.operation = operation;
  plan.model = "one-port";
  plan.platform = complete_platform(n, kRate).name();
  plan.segment = kSegment;
  plan.throughput = {kRate * n / (n - 1)};
  for (std::uint32_t i = 0; i < n; ++i) plan.nodes.push_back(fmt::format("n{}", i));
  const bool up = operation == Operation::kReduceScatter;
  for (std::uint32_t root = 0; root < n; ++root) {
    planner::PlanTree tree{{kRate / (n - 1)}, {}, {}};
    for (std::uint32_t hop = 0; hop + 1 < n; ++hop) {
      const std::uint32_t near = up ? (root + n - hop) % n : (root + hop) % n;
      const std::uint32_t far = up ? (near + n - 1) % n : (near + 1) % n;
      tree.edges.push_back({near, far});
    }
    plan.blocks.push_back({up ? planner::BlockKind::kCombine : planner::BlockKind::kSpread,
                           root,
                           1.0 / n,
                           {},
                           {tree},
                           {}});
  }
  planner::check_structure(plan);
  return plan;
}

TEST(EngineRun, ARingsAllgatherKeepsAllLinksBusy) {
  const platforms::Platform hosts = complete_platform(6, kRate);
  const planner::Plan plan = ring_of(Operation::kAllgather, 6);
  for (const std::uint64_t k : {1, 4, 20}) {
    const double took = makespan(plan, hosts, {6 * k * kSegment.value});
    EXPECT_GE(took, 5.0 * double(k) - 1e-9) << k;
    EXPECT_LE(took, 5.0 * double(k) + 4) << k;
  }
}

TEST(EngineRun, ARingsReduceScatterTakesAsLongAndItsProcessorsAdd) {
  const platforms::Platform hosts = complete_platform(6, kRate);
  const planner::Plan plan = ring_of(Operation::kReduceScatter, 6);
  const double took = makespan(plan, hosts, {6 * 20 * kSegment.value});
  EXPECT_GE(took, 100 - 1e-9);
  EXPECT_LE(took, 108);
  // Half as fast as the links: each processor adds 5 segments for each of its own.
  Options slow;
  slow.compute = BytesPerSecond{kRate / 2};
  const Simulation simulated = Simulator(plan, hosts, slow).run({6 * 20 * kSegment.value});
  EXPECT_GE(simulated.makespan.value, 200 - 1e-9);
  EXPECT_LE(simulated.makespan.value, 220);
  EXPECT_NEAR(simulated.busy.back().value, 200, 1e-6) << "a processor";
}

// Each host sends a part to each other one.
TEST(EngineRun, AnAlltoallOfEqualHostsTakesAsLongAsTheirPorts) {
  const DrawnPlatform hosts = equal_hosts(6, kRate);
  const auto plan =
      plan_for({Operation::kAlltoall, false}, hosts, Model::kOnePort, "optimal", kSegment);
  const double took = makespan(*plan, hosts.platform, {6 * 40 * kSegment.value});
  EXPECT_GE(took, 200 - 1e-9);
  EXPECT_LE(took, 200 * 1.15);
}

// --- all operations on random platforms ---

constexpr std::array kKinds{
    Kind{Operation::kAllgather, false}, Kind{Operation::kReduceScatter, false},
    Kind{Operation::kScatter, true},    Kind{Operation::kGather, true},
    Kind{Operation::kAlltoall, false},  Kind{Operation::kAllreduce, false}};

std::string name_of(const Kind& kind) {
  return std::string(planner::name_of(kind.operation)) + (kind.has_one_root ? "" : " of all roots");
}

class Operations : public ::testing::TestWithParam<std::tuple<Kind, std::string>> {};

void expect_ended(const Simulation& simulation, const planner::Plan& plan, Bytes message) {
  const double latest = std::ranges::max(simulation.done, {}, &Seconds::value).value;
  EXPECT_EQ(simulation.makespan.value, latest);
  if (!plan.optimum || message.value == 0) return;
  // Parts are whole bytes.
  const double hosts = static_cast<double>(plan.nodes.size());
  const double bytes = static_cast<double>(message.value) - hosts * hosts;
  EXPECT_GE(simulation.makespan.value, bytes / plan.optimum->value * (1 - 1e-6));
}

Options drawn_options(const planner::Plan& plan, Dice& dice) {
  Options options;
  options.window = dice.from_to(1, 5);
  options.receives = dice.from_to(1, 5);
  options.until_received = dice.chance(0.5);
  options.sharing = kSharings[dice.below(kSharings.size())].value;
  if (planner::combines(plan.operation) && dice.chance(0.5)) {
    options.compute = BytesPerSecond{dice.between(0.02, 3) * 1e9};
  }
  return options;
}

TEST_P(Operations, EndOnEveryPlatform) {
  const Kind kind = std::get<0>(GetParam());
  const Model model = platforms::parse_model(std::get<1>(GetParam()));
  std::size_t runs = 0;
  for_each_platform(2, 6, model, [&](const DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace + ", " + name_of(kind));
    Dice dice(++runs);
    for (const char* algorithm : {"optimal", "binomial"}) {
      SCOPED_TRACE(algorithm);
      const auto plan = plan_for(kind, drawn, model, algorithm, kSegment);
      if (!plan) return;
      for (const std::uint64_t message :
           {std::uint64_t{0}, std::uint64_t{1}, 20 * kSegment.value + dice.below(kSegment.value)}) {
        SCOPED_TRACE(fmt::format("{} bytes", message));
        const Simulator simulator(*plan, drawn.platform, drawn_options(*plan, dice));
        const Simulation simulation = simulator.run({message});
        expect_ended(simulation, *plan, {message});
        EXPECT_EQ(simulation.makespan.value, simulator.run({message}).makespan.value);
        EXPECT_NEAR(static_cast<double>(simulation.sends), simulator.sends_of({message}), 0);
      }
    }
  });
  EXPECT_GT(runs, 10U);
}

INSTANTIATE_TEST_SUITE_P(All, Operations,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::ValuesIn(espalier::testing::model_names())),
                         [](const auto& of) {
                           return espalier::testing::case_name(
                               std::string(planner::name_of(std::get<0>(of.param).operation)) +
                               "_" + std::get<1>(of.param));
                         });

// Along one path for each part, or one tree for each root, no rounding to segments matters.
TEST(EngineRun, LongMessagesReachTheirPlansThroughput) {
  for (const Kind& kind : kKinds) {
    double sum = 0;
    double count = 0;
    for_each_platform(
        2, 6, Model::kBoundedMultiPort, [&](const DrawnPlatform& drawn, const std::string& trace) {
          SCOPED_TRACE(trace + ", " + name_of(kind));
          const auto plan = plan_for(kind, drawn, Model::kBoundedMultiPort, "binary", kSegment);
          if (!plan) return;
          Options options;
          options.window = 16;
          options.receives = 16;
          const double achieved =
              Simulator(*plan, drawn.platform, options).run({1200 * kSegment.value}).achieved.value;
          EXPECT_LT(achieved, plan->throughput.value * (1 + 1e-6));
          sum += achieved / plan->throughput.value;
          ++count;
        });
    EXPECT_GT(sum / count, 0.9) << name_of(kind);
  }
}

// Hosts without a part, and parts of very different sizes.
TEST(EngineRun, PartsMayBeEmpty) {
  const DrawnPlatform hosts = equal_hosts(4, kRate);
  const std::vector<double> shares{0, 3, 0, 1};
  for (const Kind& kind : kKinds) {
    if (kind.operation == Operation::kAlltoall || kind.operation == Operation::kAllreduce) continue;
    SCOPED_TRACE(name_of(kind));
    const auto plan = plan_for(kind, hosts, Model::kOnePort, "optimal", kSegment, shares);
    ASSERT_TRUE(plan);
    for (const std::uint64_t message : {std::uint64_t{1}, std::uint64_t{5}, 100 * kSegment.value}) {
      expect_ended(Simulator(*plan, hosts.platform).run({message}), *plan, {message});
    }
  }
  std::vector<double> matrix(16, 0);
  matrix[1] = 5;
  matrix[11] = 1;
  const auto plan =
      plan_for({Operation::kAlltoall, false}, hosts, Model::kOnePort, "optimal", kSegment, matrix);
  const Simulation simulation = Simulator(*plan, hosts.platform).run({60 * kSegment.value});
  expect_ended(simulation, *plan, {60 * kSegment.value});
  EXPECT_EQ(simulation.done[0].value, 0) << "nothing is for it";
}

}  // namespace
}  // namespace espalier::simulate::engine_run_test
