// The plan for one message, compared with every algorithm and every segment size, and with the
// known best plans of some messages.
#include "simulate/search/choose_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "planner/check/plan_on_platform.hpp"
#include "platforms/generators/generators.hpp"
#include "simulate/simulate.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::simulate::choose_plan_test {
namespace {

using platforms::Model;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

Choice choose(const platforms::Platform& platform, std::uint64_t message,
              const ChoiceOptions& options = {}) {
  return choose_plan(platform, platform.hosts().front(), Model::kOnePort, false, {message},
                     options);
}

ChoiceOptions only(std::string_view algorithms) {
  ChoiceOptions options;
  options.algorithms = planner::parse_algorithms(algorithms);
  return options;
}

// 16 equal hosts: a binomial tree needs four steps and a chain fifteen, but each host of a chain
// sends every segment only once.
TEST(ChoosePlan, HasFewStepsForAShortMessageAndHighThroughputForALongOne) {
  const platforms::Platform platform = testing::complete_platform(16, 1e9);
  const Choice brief = choose(platform, kKiB);
  EXPECT_EQ(brief.candidates.front().depth, 4U);
  EXPECT_EQ(brief.plan.segment, Bytes{kKiB});
  EXPECT_NEAR(brief.makespan.value, 4 * (10e-6 + 1024e-9), 1e-12);
  const Choice lengthy = choose(platform, 1024 * kMiB);
  EXPECT_GT(lengthy.plan.throughput.value, 0.99e9);
  EXPECT_LT(lengthy.makespan.value, 1.02 * 1024 * 1048576e-9);
  EXPECT_GT(lengthy.plan.segment, brief.plan.segment);
}

// a -> b -> c -> d at 1 GB/s, overhead 10 us per segment. The last host receives the last of k
// segments of s bytes after (k + 2)(10 us + s ns). With k s = M the least time is at k = sqrt(2 M /
// 10^4).
TEST(ChoosePlan, SegmentsOfAChainMatchTheFormula) {
  const auto platform = testing::small_platform(
      {"a", "b", "c", "d"}, {{"a", "b", 1e-9}, {"b", "c", 1e-9}, {"c", "d", 1e-9}});
  const Choice choice = choose(platform, 8'000'000, only("chain"));
  EXPECT_EQ(choice.overhead, kAssumedOverhead);
  EXPECT_NEAR(choice.makespan.value, 42 * (10e-6 + 200e-6), 0.001 * 42 * 210e-6);
  EXPECT_NEAR(static_cast<double>(choice.plan.segment.value), 200e3, 20e3);
  EXPECT_EQ(choice.candidates.size(), 1U);
  EXPECT_NEAR(choice.formula_makespan.value, choice.makespan.value, 1e-9);
}

TEST(ChoosePlan, OverheadIsTheOptionThePlatformsOrTenMicroseconds) {
  const auto bare = testing::small_platform({"a", "b", "c"}, {{"a", "b", 1e-9}, {"b", "c", 1e-9}});
  EXPECT_FALSE(names_overhead(bare));
  ChoiceOptions none = only("chain");
  none.overhead = Seconds{0};
  const Choice free = choose(bare, kMiB, none);
  EXPECT_EQ(free.plan.segment, Bytes{kKiB});  // longer ones have no advantage
  const platforms::Platform slow = with_overhead(bare, {1e-3});
  EXPECT_TRUE(names_overhead(slow));
  const Choice expensive = choose(slow, kMiB, only("chain"));
  EXPECT_EQ(expensive.overhead, Seconds{0});
  EXPECT_GT(expensive.plan.segment.value, 512 * kKiB);
  EXPECT_NEAR(expensive.plan.throughput.value,
              1 / (1e-9 + 1e-3 / static_cast<double>(expensive.plan.segment.value)), 1);
}

// A source of 1 GB/s with a link to each of 20 hosts, which all have links to each other. Overheads
// occupy links, so segments of 1 KiB would cost nothing, although hosts would need twenty times the
// available time for them.
TEST(ChoosePlan, SegmentsOnManyPortsDoNotOverloadAHost) {
  const platforms::Platform platform = testing::complete_platform(21, 1e9, BytesPerSecond{1e9});
  const Choice choice =
      choose_plan(platform, platform.hosts().front(), Model::kBoundedMultiPort, false, {64 * kMiB});
  EXPECT_GT(choice.plan.throughput.value, 0.9e9);
  std::vector<double> handled(21);  // segments sent and received, per host
  const double segments = 64.0 * kMiB / static_cast<double>(choice.plan.segment.value);
  for (const planner::PlanTree& tree : choice.plan.broadcast_trees) {
    const double share = segments * tree.rate.value / choice.plan.throughput.value;
    for (const planner::PlanEdge& edge : tree.edges) {
      handled[edge.parent] += share;
      handled[edge.child] += share;
    }
  }
  EXPECT_LE(std::ranges::max(handled) * choice.overhead.value, 1.02 * choice.makespan.value);
  const auto seconds = [&](Bytes segment) {
    return Simulator(choice.plan, with_overhead(platform, choice.overhead), {.segment = segment})
        .run({64 * kMiB})
        .makespan.value;
  };
  EXPECT_LE(choice.makespan.value, 1.03 * seconds({4 * kKiB}));
}

// Five hosts with a rate for each pair as a probe might measure them: 8, 4, 2 and 1 times about 3
// MB/s, with deviations of half a per cent. This gives many trees with incommensurable rates. Some
// short segments happen to fit well, but only while links serve them one by one.
TEST(ChoosePlan, IsRobustToTheOrderInWhichLinksServe) {
  const std::vector<std::string> hosts{"h0", "h1", "h2", "h3", "h4"};
  constexpr double kRatesKBps[5][5] = {{0, 23883, 5960, 11981, 5956},
                                       {2992, 0, 23893, 5955, 2991},
                                       {5954, 5977, 0, 11911, 5957},
                                       {5977, 6001, 2979, 0, 23859},
                                       {5989, 12016, 5986, 5975, 0}};
  std::vector<testing::Link> links;
  for (std::size_t from = 0; from < 5; ++from) {
    for (std::size_t to = 0; to < 5; ++to) {
      if (from == to) continue;
      links.push_back({hosts[from], hosts[to], 1e-3 / kRatesKBps[from][to]});
    }
  }
  const platforms::Platform platform =
      with_overhead(testing::small_platform(hosts, links), Seconds{3e-6});
  for (const ChoiceOptions& options : {ChoiceOptions{}, only("optimal")}) {
    SCOPED_TRACE(options.algorithms.size());
    const Choice choice = choose_plan(platform, platform.hosts().front(), Model::kBoundedMultiPort,
                                      false, {8 * kMiB}, options);
    const auto with = [&](Sharing sharing) {
      return Simulator(choice.plan, platform, {.sharing = sharing}).run({8 * kMiB}).makespan.value;
    };
    EXPECT_DOUBLE_EQ(with(Sharing::kTurns), choice.makespan.value);
    EXPECT_LE(with(Sharing::kEdges), 1.02 * choice.makespan.value);
    EXPECT_GE(choice.plan.segment, Bytes{6 * kKiB});  // each takes hosts 3 us
    for (const CandidateResult& candidate : choice.candidates) {
      EXPECT_LE(choice.makespan.value, 1.01 * candidate.makespan.value);
    }
  }
}

// With turns the trees of `fnf`, whose hosts at either end of the long link have many children, end
// first by a hair.
TEST(ChoosePlan, NearerSendsDoNotCrowdOutLongOnes) {
  platforms::TwoClustersFamily family;
  family.spread.heterogeneity = 0.3;
  const platforms::Platform platform = platforms::generate_two_clusters(family);
  const Choice fnf = choose(platform, 8 * kMiB, only("fnf"));
  EXPECT_GT(planner::crowding_of(fnf.plan, platform), 1.2);
  const Choice choice = choose(platform, 8 * kMiB);
  EXPECT_LE(planner::crowding_of(choice.plan, platform), 1.1);
  EXPECT_GT(1.02 * fnf.makespan.value, choice.makespan.value);
}

TEST(ChoosePlan, RespectsItsOptions) {
  const platforms::Platform platform = testing::sample_platform("seed-sketch.json");
  ChoiceOptions options;
  options.run.segment = Bytes{64 * kKiB};
  EXPECT_EQ(choose(platform, 10 * kMiB, options).plan.segment, Bytes{64 * kKiB});
  const Choice grown = choose(platform, 10 * kMiB, only("grow"));
  EXPECT_EQ(grown.plan.algorithm, "grow");
  options = {};
  options.limits.max_trees = 1;
  const Choice one = choose(platform, 1024 * kMiB, options);
  EXPECT_EQ(one.plan.broadcast_trees.size(), 1U);
  EXPECT_THAT(one.candidates,
              ::testing::Each(::testing::Field(&CandidateResult::broadcast_trees, 1U)));
  options = {};
  options.limits.max_depth = 3;
  EXPECT_LE(choose(platform, 1024 * kMiB, options).candidates.front().depth, 3U);
  // No plan of the packing is that shallow, but a topology-oblivious tree may be, routed through
  // other hosts.
  options.limits.max_depth = 1;
  EXPECT_EQ(choose(platform, kMiB, options).candidates.front().depth, 1U);
}

TEST(ChoosePlan, RefusesEmptyMessagesAndSegments) {
  const platforms::Platform platform = testing::complete_platform(3, 1e9);
  EXPECT_THROW((void)choose(platform, 0), std::invalid_argument);
  ChoiceOptions options;
  options.run.segment = Bytes{0};
  EXPECT_THROW((void)choose(platform, 1, options), std::invalid_argument);
}

TEST(ChoosePlan, OneByteAndTheLongestMessageHaveAPlan) {
  const platforms::Platform platform = testing::complete_platform(3, 1e9);
  EXPECT_EQ(choose(platform, 1).plan.segment, Bytes{1});
  const Choice longest = choose(platform, (std::uint64_t{1} << 63U) - 1);
  EXPECT_GT(longest.makespan.value, 9.2e9);
  EXPECT_LT(longest.makespan.value, 9.3e9);
}

// A limit that is reached at once still gives a plan, marked as incomplete.
TEST(ChoosePlan, ATimeLimitLeavesTheBestSoFar) {
  const platforms::Platform platform = testing::sample_platform("seed-sketch.json");
  ChoiceOptions options;
  options.limits.deadline = Deadline(Seconds{1e-9});
  const Choice choice = choose_plan(platform, planner::source_named(platform, "P0"),
                                    Model::kOnePort, false, {10 * kMiB}, options);
  EXPECT_FALSE(choice.complete);
  EXPECT_NO_THROW(planner::check_structure(choice.plan));
  EXPECT_GT(choice.makespan.value, 0);
}

// 8 equal hosts, 1 ns per byte, 10 us per segment. A short message is reduced in three steps along
// a binomial tree. For a long one each host should combine as few segments as possible, as in a
// chain.
TEST(ChoosePlan, HasFewStepsForAShortReductionAndHighThroughputForALongOne) {
  const platforms::Platform platform = testing::complete_platform(8, 1e9);
  ChoiceOptions options;
  options.operation = planner::Operation::kReduce;
  const Choice brief = choose(platform, kKiB, options);
  EXPECT_EQ(brief.candidates.front().depth, 3U);
  EXPECT_EQ(brief.candidates.front().broadcast_trees, 0U);
  EXPECT_NEAR(brief.makespan.value, 3 * (10e-6 + 1024e-9), 1e-12);
  EXPECT_TRUE(brief.plan.broadcast_trees.empty());
  const Choice lengthy = choose(platform, 256 * kMiB, options);
  EXPECT_GT(lengthy.plan.throughput.value, 0.99e9);
  EXPECT_LT(lengthy.makespan.value, 1.05 * 256 * 1048576e-9);
  // Each host of a chain combines every byte once; at half the links' rate that takes 2 ns.
  options.run.compute = BytesPerSecond{0.5e9};
  const Choice computing = choose(platform, 256 * kMiB, options);
  EXPECT_GT(computing.makespan.value, 2 * 256 * 1048576e-9);
  EXPECT_LT(computing.makespan.value, 2.1 * 256 * 1048576e-9);
}

// With n equal hosts an allreduce reaches n / (2 (n - 1)) of a link's rate: 5/8 for five.
TEST(ChoosePlan, AnAllreduceHasTreesOfBothKinds) {
  const platforms::Platform platform = testing::complete_platform(5, 1e9);
  ChoiceOptions options;
  options.operation = planner::Operation::kAllreduce;
  const Choice choice = choose(platform, 256 * kMiB, options);
  EXPECT_GT(choice.candidates.front().reduce_trees, 0U);
  EXPECT_GT(choice.candidates.front().broadcast_trees, 0U);
  EXPECT_NEAR(choice.plan.optimum->value, 0.625e9, 1e4);
  EXPECT_GT(choice.makespan.value, 256 * 1048576 / 0.625e9);
  EXPECT_LT(choice.makespan.value, 1.1 * 256 * 1048576 / 0.5e9);
  options.limits.max_trees = 1;
  const Choice one = choose(platform, 256 * kMiB, options);
  EXPECT_EQ(one.plan.reduce_trees.size(), 1U);
  EXPECT_EQ(one.plan.broadcast_trees.size(), 1U);
}

TEST(ChoosePlan, RefusesInvalidWindowsAndComputeRates) {
  const platforms::Platform platform = testing::complete_platform(3, 1e9);
  ChoiceOptions options;
  options.run.compute = BytesPerSecond{1e9};
  EXPECT_THROW((void)choose(platform, kKiB, options), std::invalid_argument);  // a broadcast
  options.operation = planner::Operation::kReduce;
  EXPECT_NO_THROW((void)choose(platform, kKiB, options));
  options.run.compute = BytesPerSecond{0};
  EXPECT_THROW((void)choose(platform, kKiB, options), std::invalid_argument);
  options.run.compute.reset();
  options.run.receives = 0;
  EXPECT_THROW((void)choose(platform, kKiB, options), std::invalid_argument);
}

}  // namespace
}  // namespace espalier::simulate::choose_plan_test
