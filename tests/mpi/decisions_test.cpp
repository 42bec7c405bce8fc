// Broadcasts by a decision table follow it from every root and deliver the message.
#include "runtime/api/decisions.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include "support/errors.hpp"
#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing::decisions_test {
namespace {

using runtime::DecidedBroadcast;

// One message size per algorithm.
runtime::Decisions every_algorithm(std::uint32_t ranks) {
  return {planner::Operation::kBroadcast,
          {{ranks, 0, "linear", 0, {}},
           {ranks, 100, "linear", 0, {1e-5}},
           {ranks, 1000, "binomial", 0, {1e-5}},
           {ranks, 10'000, "split-binary", 0, {1e-4}},
           {ranks, 50'000, "binary", 3000, {1e-3}},
           {ranks, 200'000, "two-tree", 10'000, {1e-3}},
           {ranks, 1'000'000, "pipeline", 70'000, {1e-3}}}};
}

TEST(DecidedBroadcast, RunsEachMessageByTheTable) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  // For other numbers of ranks, the next one of the table applies.
  const runtime::Decisions decisions = every_algorithm(ranks + ranks / 3);
  std::uint64_t message = 0;
  for (std::uint32_t root = 0; root < ranks; ++root) {
    DecidedBroadcast broadcast(MPI_COMM_WORLD, decisions, static_cast<int>(root));
    for (int turn = 0; turn < 2; ++turn) {
      for (const std::size_t bytes : {0UL, 1UL, 100UL, 1100UL, 9999UL, 13'001UL, 50'000UL,
                                      200'001UL, 900'000UL, 2'500'000UL}) {
        check_run(broadcast, MPI_COMM_WORLD, bytes, message++);
      }
    }
  }
}

TEST(DecidedBroadcast, RefusesOtherTablesAndRoots) {
  const int ranks = static_cast<int>(size_of(MPI_COMM_WORLD));
  const runtime::Decisions up{planner::Operation::kReduce, {{4, 1, "binomial", 0, {1e-5}}}};
  EXPECT_THROW(DecidedBroadcast(MPI_COMM_WORLD, up, 0), InputError);
  const runtime::Decisions down{planner::Operation::kBroadcast, {{4, 1, "binomial", 0, {1e-5}}}};
  EXPECT_THROW(DecidedBroadcast(MPI_COMM_WORLD, down, ranks), InputError);
  EXPECT_THROW(DecidedBroadcast(MPI_COMM_WORLD, down, -1), InputError);
}

// The segment sizes of a Broadcast with the options of a decided plan.
TEST(DecidedBroadcast, TakesTheSegmentsOfTheTable) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const runtime::Decisions decisions{
      planner::Operation::kBroadcast,
      {{ranks, 1000, "two-tree", 0, {1e-5}}, {ranks, 100'000, "two-tree", 3001, {1e-5}}}};
  const runtime::DecidedPlan decided = plan_for(decisions, "two-tree", ranks, 0);
  runtime::BroadcastOptions options;
  follow(decided, options);
  const runtime::Broadcast broadcast(MPI_COMM_WORLD, decided.plan, options);
  EXPECT_EQ(broadcast.segment_bytes(7), 4U);  // one half per tree
  EXPECT_EQ(broadcast.segment_bytes(5001), 2501U);
  EXPECT_EQ(broadcast.segment_bytes(20'000), 1501U);
  EXPECT_EQ(broadcast.segment_bytes(std::uint64_t{1} << 50), 1501U);
}

}  // namespace
}  // namespace espalier::testing::decisions_test
