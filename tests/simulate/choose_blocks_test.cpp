// The plan for one message of operations with several roots, or with parts.
#include "simulate/search/choose_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "planner/check/verify.hpp"
#include "planner/plan/send_windows.hpp"
#include "platforms/generators/generators.hpp"
#include "simulate/simulate.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::simulate::choose_blocks_test {
namespace {

using planner::AllRoots;
using planner::Operation;
using planner::Routing;
using platforms::Model;
using ::testing::IsEmpty;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

// The choice is what its plan takes in its segments, takes hardly longer than any other, and is a
// valid plan.
void check(const Choice& choice, const platforms::Platform& platform, Bytes message,
           double hardly_longer = 1.04) {
  const platforms::Platform network = with_overhead(platform, choice.overhead);
  EXPECT_EQ(Simulator(choice.plan, network).run(message).makespan, choice.makespan);
  ASSERT_GT(choice.candidates.size(), 2U);
  EXPECT_EQ(choice.candidates.front().makespan, choice.makespan);
  for (const CandidateResult& candidate : choice.candidates) {
    EXPECT_GE(hardly_longer * candidate.makespan.value, choice.makespan.value)
        << candidate.algorithm;
  }
  EXPECT_THAT(planner::verify(choice.plan, platform).faults, IsEmpty());
  EXPECT_TRUE(choice.complete);
}

// Eight equal hosts, 10 us a segment. Each is to send its byte to seven others, and takes 7 steps
// along a ring; three along doubled distances.
TEST(ChooseBlocks, AShortAllgatherTakesFewSteps) {
  const platforms::Platform platform = testing::complete_platform(8, 1e9);
  const AllRoots problem(Operation::kAllgather, platform, Model::kOnePort);
  const Choice choice = choose_plan(problem, Bytes{8});
  check(choice, platform, {8});
  EXPECT_LT(choice.makespan.value, 71e-6);
}

TEST(ChooseBlocks, ALongAllgatherReachesTheOptimum) {
  const platforms::Platform platform = testing::complete_platform(4, 1e9);
  const AllRoots problem(Operation::kAllgather, platform, Model::kOnePort);
  const Choice choice = choose_plan(problem, Bytes{256 * kMiB});
  check(choice, platform, {256 * kMiB});
  EXPECT_LT(choice.makespan.value, 1.02 * 256 * 1048576e-9 * 3 / 4);
  ASSERT_TRUE(choice.plan.optimum);
  EXPECT_NEAR(choice.plan.optimum->value, 4e9 / 3, 1e3);
}

// As fast as the direct way but for the time to fill trees, without 23 hosts that send to one.
TEST(ChooseBlocks, ALongReduceScatterIsWithoutCrowds) {
  const platforms::Platform platform = testing::complete_platform(24, 1e9);
  const AllRoots problem(Operation::kReduceScatter, platform, Model::kOnePort);
  const Choice choice = choose_plan(problem, Bytes{16 * kMiB});
  EXPECT_LT(choice.makespan.value, 1.02 * 16 * 1048576e-9 * 23 / 24);
  const std::vector<CandidateResult>& all = choice.candidates;
  EXPECT_LE(choice.makespan.value,
            1.02 * std::ranges::min(all, {}, &CandidateResult::makespan).makespan.value);
  for (std::uint32_t host = 0; host < 24; ++host) {
    std::set<std::uint32_t> senders;
    for (const planner::PlanBlock& block : choice.plan.blocks) {
      for (const planner::PlanEdge& edge : block.trees.at(0).edges) {
        if (edge.parent == host) senders.insert(edge.child);
      }
    }
    EXPECT_LE(senders.size(), planner::kFewNeighbours);
  }
}

// It may take somewhat longer with turns than others that lose by sharing. most: of the time with
// turns.
void check_where_sends_share_ports(const platforms::Platform& platform, Operation operation,
                                   Bytes message, double most) {
  const AllRoots problem(operation, platform, Model::kOnePort);
  const Choice choice = choose_plan(problem, message);
  check(choice, platform, message, 1.15);
  Options sharing;
  sharing.sharing = Sharing::kSends;
  const platforms::Platform network = with_overhead(platform, choice.overhead);
  const Simulator shared(choice.plan, network, sharing);
  EXPECT_LE(shared.run(message).makespan.value, most * choice.makespan.value);
}

// With turns a ring in whole parts takes as long as one in short segments; where sends share ports,
// a third longer.
TEST(ChooseBlocks, IsNearlyAsFastWhereSendsSharePorts) {
  platforms::TwoClustersFamily family;
  family.hosts = {4, 4};
  family.bandwidth = {{{25e6}, {12.5e6}}};
  family.thin_latency = {};
  family.interleaved = true;
  const platforms::Platform platform = platforms::generate_two_clusters(family);
  for (const Operation operation : {Operation::kAllgather, Operation::kReduceScatter}) {
    check_where_sends_share_ports(platform, operation, {8 * kMiB}, 1.05);
  }
}

// The plans that are the fastest with turns, by some percent, take up to half as long again where
// sends share ports, others hardly more.
TEST(ChooseBlocks, OthersAreJudgedWhereTheFastestLoseBySharing) {
  platforms::RandomFamily family;
  family.nodes = 16;
  family.density = 0.3;
  family.seed = 7;
  const platforms::Platform platform = platforms::generate_random(family);
  for (const Operation operation : {Operation::kReduceScatter, Operation::kAllreduce}) {
    check_where_sends_share_ports(platform, operation, {32 * kMiB}, 1.15);
  }
}

// Host c is in the middle of a chain of five, two steps from either end.
TEST(ChooseBlocks, AShortAllreduceGoesThroughTheMostCentralHost) {
  std::vector<testing::Link> links;
  for (const auto& [left, right] : std::vector<std::pair<std::string, std::string>>{
           {"a", "b"}, {"b", "c"}, {"c", "d"}, {"d", "e"}}) {
    links.push_back({left, right, 1e-9});
    links.push_back({right, left, 1e-9});
  }
  const platforms::Platform platform = testing::small_platform({"a", "b", "c", "d", "e"}, links);
  const AllRoots problem(Operation::kAllreduce, platform, Model::kOnePort);
  const Choice choice = choose_plan(problem, Bytes{64});
  EXPECT_EQ(choice.plan.operation, Operation::kAllreduce);
  EXPECT_EQ(choice.plan.source, "c");
  EXPECT_TRUE(choice.plan.has_one_root());
  EXPECT_EQ(Simulator(choice.plan, with_overhead(platform, choice.overhead)).run({64}).makespan,
            choice.makespan);
}

TEST(ChooseBlocks, AnAlltoallOfBytesIsNotSentDirectly) {
  const platforms::Platform platform = testing::complete_platform(8, 1e9);
  const Routing problem(Operation::kAlltoall, platform, std::nullopt, Model::kOnePort);
  const Choice brief = choose_plan(problem, Bytes{8});
  check(brief, platform, {8});
  const Choice lengthy = choose_plan(problem, Bytes{64 * kMiB});
  check(lengthy, platform, {64 * kMiB});
  EXPECT_LT(lengthy.makespan.value, 1.03 * 64 * 1048576e-9 * 7 / 8);
}

// Overheads make rates depend on the segment; the plan's are those of its own.
TEST(ChooseBlocks, RatesAreThoseOfTheChosenSegment) {
  const platforms::Platform platform =
      with_overhead(testing::complete_platform(4, 1e9), Seconds{50e-6});
  const AllRoots problem(Operation::kReduceScatter, platform, Model::kOnePort,
                         {.segment = planner::kDefaultSegment});
  const Choice choice = choose_plan(problem, Bytes{4 * kMiB});
  EXPECT_THAT(planner::verify(choice.plan, platform).faults, IsEmpty());
  const double segment_s = 50e-6 + static_cast<double>(choice.plan.segment.value) * 1e-9;
  EXPECT_NEAR(choice.plan.throughput.value * 3 / 4 * segment_s,
              static_cast<double>(choice.plan.segment.value), 1e-6 * 1e6);
}

TEST(ChooseBlocks, OnlyTheNamedAlgorithmsAreTried) {
  const platforms::Platform platform = testing::complete_platform(4, 1e9);
  const Routing problem(Operation::kScatter, platform, platform.hosts().front(), Model::kOnePort);
  ChoiceOptions options;
  options.operation = Operation::kScatter;
  options.algorithms = planner::parse_algorithms("flat,chain", Operation::kScatter);
  const Choice choice = choose_plan(problem, Bytes{kMiB}, options);
  EXPECT_EQ(choice.candidates.size(), 2U);
  EXPECT_EQ(choice.plan.algorithm, "flat");
}

}  // namespace
}  // namespace espalier::simulate::choose_blocks_test
