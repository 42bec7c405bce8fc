// The pace of segments on high-latency links, and on other links of the same plan. A test can only
// assert that segments are not sent too early.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "planner/plan/send_windows.hpp"
#include "runtime/api/reduction.hpp"
#include "runtime/transport/transfer_log.hpp"
#include "tests/mpi/check_reduction.hpp"
#include "tests/mpi/check_run.hpp"

namespace espalier::testing::pacing_test {
namespace {

constexpr std::uint64_t kSegment = 1000;

// By tree and child: the times between the starts of consecutive sends, in seconds.
using Gaps = std::map<std::pair<std::uint32_t, int>, std::vector<double>>;

// The gaps between this rank's sends, in a message of 30 segments, but for those after all of a
// tree's segments have arrived: these need no pace.
Gaps gaps_along(const planner::Plan& plan) {
  runtime::TransferLog log(10'000);
  runtime::BroadcastOptions options = as_planned();
  options.transfers = &log;
  runtime::Broadcast broadcast(MPI_COMM_WORLD, plan, options);
  check_run(broadcast, MPI_COMM_WORLD, 30 * kSegment, 0);
  Gaps gaps;
  std::map<std::uint32_t, double> all_here_s;  // by tree, of what this rank passes on
  for (const runtime::Transfer& one : log.transfers()) {
    if (!one.is_send) all_here_s[one.tree] = std::max(all_here_s[one.tree], one.ended_s);
  }
  for (const runtime::Transfer& one : log.transfers()) {
    if (!one.is_send) continue;
    const auto here = all_here_s.find(one.tree);
    std::vector<double>& begun = gaps[{one.tree, one.peer}];
    if (here == all_here_s.end() || one.begun_s < here->second) begun.push_back(one.begun_s);
  }
  for (auto& [edge, times] : gaps) {
    std::ranges::sort(times);
    std::adjacent_difference(times.begin(), times.end(), times.begin());
    if (!times.empty()) times.erase(times.begin());
  }
  return gaps;
}

void expect_pace(const std::vector<double>& gaps, BytesPerSecond rate) {
  constexpr double kRounding = 1e-9;
  for (const double gap : gaps) EXPECT_GE(gap, planner::pace(rate, {kSegment}).value - kRounding);
}

// A rank sends to the next one of the chain; rank 0 also sends to all others.
TEST(Pace, IsKeptOnAllEdgesIfOneHasALongLatency) {
  const auto ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank sends nothing";
  const planner::PlanTree chain = tree_shaped(Shape::kChain, ranks, 0, 500e3);
  const planner::PlanTree flat = tree_shaped(Shape::kFlat, ranks, 0, 1e6);
  auto plan = plan_of(ranks, 0, {chain, flat}, kSegment);
  plan.broadcast_trees[0].latencies.resize(ranks - 1);
  plan.broadcast_trees[0].latencies.back() = {1e-3};  // half a segment
  const Gaps gaps = gaps_along(plan);
  const auto rank = static_cast<std::uint32_t>(rank_in(MPI_COMM_WORLD));
  EXPECT_EQ(gaps.size(), (rank + 1 < ranks ? 1U : 0U) + (rank == 0 ? ranks - 1 : 0U));
  for (const auto& [edge, between] : gaps) {
    expect_pace(between, plan.broadcast_trees[edge.first].rate);
  }
}

class PaceOfReductions : public ::testing::TestWithParam<planner::Operation> {};

// The root has all 30 segments no earlier than 29 pace intervals after the first rank can start.
// That time is taken before the barrier, because other ranks may leave the barrier before the root
// does.
TEST_P(PaceOfReductions, IsKeptUpTheTrees) {
  const auto ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank sends nothing";
  auto down = plan_of(ranks, 0, {tree_shaped(Shape::kBinary, ranks, 0, 1e6)}, kSegment);
  auto up = down;
  up.broadcast_trees[0].latencies.resize(ranks - 1);
  up.broadcast_trees[0].latencies.back() = {0.5e-3};
  const auto plan =
      GetParam() == planner::Operation::kReduce ? reduce_plan(up) : allreduce_plan(up, down);
  runtime::Reduction reduction(MPI_COMM_WORLD, plan, as_planned());  // rings need no pace
  const double before_any_s = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  check_sum(reduction, MPI_COMM_WORLD, 30 * kSegment / sizeof(double), 0);
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  EXPECT_GE(MPI_Wtime() - before_any_s, 29 * planner::pace({1e6}, {kSegment}).value);
}

INSTANTIATE_TEST_SUITE_P(All, PaceOfReductions,
                         ::testing::Values(planner::Operation::kReduce,
                                           planner::Operation::kAllreduce),
                         [](const auto& one) {
                           return one.param == planner::Operation::kReduce ? "Reduce" : "Allreduce";
                         });

}  // namespace
}  // namespace espalier::testing::pacing_test
