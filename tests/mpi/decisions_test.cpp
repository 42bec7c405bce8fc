// Broadcasts by a decision table.
#include "runtime/api/decisions.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/broadcast.hpp"
#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing::decisions_test {
namespace {

using runtime::Broadcast;

Broadcast broadcast_by(const planner::Decisions& decisions, const std::string& algorithm,
                       std::uint32_t root) {
  const runtime::DecidedPlan decided =
      plan_for(decisions, algorithm, runtime::placement_of(MPI_COMM_WORLD), root);
  runtime::CollectiveOptions options;
  follow(decided, options);
  return {MPI_COMM_WORLD, decided.plan, options};
}

TEST(DecidedPlan, DeliversMessagesByEveryAlgorithmOfTheTable) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  // For other numbers of ranks, the next one of the table applies.
  const std::uint32_t in_table = ranks + ranks / 3;
  const planner::Decisions decisions{planner::Operation::kBroadcast,
                                     {{0, in_table, 0, "linear", 0, {}},
                                      {0, in_table, 100, "linear", 0, {1e-5}},
                                      {0, in_table, 1000, "binomial", 0, {1e-5}},
                                      {0, in_table, 10'000, "split-binary", 0, {1e-4}},
                                      {0, in_table, 50'000, "binary", 3000, {1e-3}},
                                      {0, in_table, 100'000, "hierarchical-binomial", 3000, {1e-3}},
                                      {0, in_table, 200'000, "two-tree", 10'000, {1e-3}},
                                      {0, in_table, 1'000'000, "pipeline", 70'000, {1e-3}}}};
  std::uint64_t message = 0;
  for (std::uint32_t root = 0; root < ranks; root += 1 + ranks / 2) {
    for (const std::size_t bytes : {0UL, 1UL, 100UL, 1100UL, 9999UL, 13'001UL, 50'000UL, 100'001UL,
                                    200'001UL, 900'000UL, 1'200'000UL}) {
      Broadcast broadcast =
          broadcast_by(decisions, decision_for(decisions, {ranks, 1}, bytes).algorithm, root);
      for (int turn = 0; turn < 2; ++turn) check_run(broadcast, MPI_COMM_WORLD, bytes, message++);
    }
  }
}

TEST(DecidedPlan, HasTheSegmentsOfTheTable) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const planner::Decisions decisions{
      planner::Operation::kBroadcast,
      {{0, ranks, 1000, "two-tree", 0, {1e-5}}, {0, ranks, 100'000, "two-tree", 3001, {1e-5}}}};
  const Broadcast broadcast = broadcast_by(decisions, "two-tree", 0);
  EXPECT_EQ(broadcast.segment_bytes(7), 4U);  // one half per tree
  EXPECT_EQ(broadcast.segment_bytes(5001), 2501U);
  EXPECT_EQ(broadcast.segment_bytes(20'000), 1501U);
  EXPECT_EQ(broadcast.segment_bytes(std::uint64_t{1} << 50), 1501U);
}

}  // namespace
}  // namespace espalier::testing::decisions_test
