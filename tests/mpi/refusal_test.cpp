// Invalid broadcasts are refused on every rank, with a message and without a deadlock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/api/broadcast.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/mpi/refusals.hpp"

namespace espalier::testing::refusal_test {
namespace {

using runtime::Broadcast;
using runtime::BroadcastOptions;
using ::testing::HasSubstr;

planner::Plan chain_here() {
  return plan_shaped(Shape::kChain, size_of(MPI_COMM_WORLD), 0, 100);
}

TEST(Refusal, AnotherNumberOfRanksSaysBoth) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  EXPECT_THAT(refusal_of(plan_shaped(Shape::kFlat, ranks + 5, 0, 100)),
              HasSubstr("the plan has " + std::to_string(ranks + 5) + " nodes, but " +
                        std::to_string(ranks) + (ranks == 1 ? " rank is" : " ranks are")));
}

TEST(Refusal, APlanWithAFault) {
  planner::Plan plan = chain_here();
  plan.segment.value = 0;
  EXPECT_THAT(refusal_of(plan), HasSubstr("/slice_bytes"));
}

TEST(Refusal, EmptyWindows) {
  BroadcastOptions options = as_planned();
  options.sends_in_flight = 0;
  EXPECT_THAT(refusal_of(chain_here(), options), HasSubstr("window"));
}

TEST(Refusal, RoundsOfAPlanWithoutColors) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank has no edges";
  BroadcastOptions options = as_planned();
  options.rounds = true;
  EXPECT_EQ(refusal_of(chain_here(), options),
            "/broadcast_trees/0: rounds need colors, which this plan's trees do not have");
}

TEST(Refusal, RoundsOnSomeRanksOnly) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank agrees with itself";
  planner::Plan plan = chain_here();
  for (std::size_t i = 0; i < plan.broadcast_trees[0].edges.size(); ++i) {
    plan.broadcast_trees[0].colors.push_back(i % 2);
  }
  BroadcastOptions options = as_planned();
  options.rounds = rank_in(MPI_COMM_WORLD) == 1;
  EXPECT_THAT(refusal_of(plan, options), HasSubstr("different plans or options"));
}

TEST(Refusal, PlansThatDifferAmongRanks) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank agrees with itself";
  planner::Plan plan = chain_here();
  if (rank_in(MPI_COMM_WORLD) == 1) plan.segment.value = 101;
  EXPECT_THAT(refusal_of(plan), HasSubstr("different plans"));
}

TEST(Refusal, AFaultOnOneRankIsReportedOnAll) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  planner::Plan plan = chain_here();
  if (rank_in(MPI_COMM_WORLD) + 1 == static_cast<int>(ranks)) plan.source = "nobody";
  EXPECT_THAT(refusal_of(plan), HasSubstr("'nobody'"));
}

TEST(Refusal, HostNamesThatDoNotIdentifyNodes) {
  BroadcastOptions options = as_planned();
  options.mapping = runtime::RankMapping::kByHostName;
  const std::string expected = size_of(MPI_COMM_WORLD) == 1 ? "node 'n0'" : "both run on host";
  EXPECT_THAT(refusal_of(chain_here(), options), HasSubstr(expected));
}

// They differ so much that the ranks choose different segment sizes.
TEST(Refusal, SizesThatDifferWidely) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks < 3) GTEST_SKIP() << "a chain of two has nothing to fill";
  planner::Plan plan = plan_shaped(Shape::kChain, ranks, 0, 1U << 20U);
  plan.broadcast_trees[0].rate.value = plan.throughput.value = 1e9;
  for (const int odd_rank : {0, 1, static_cast<int>(ranks) - 1}) {
    for (const std::size_t odd_size : {1'000'000UL, 30'000'000UL}) {
      Broadcast broadcast(MPI_COMM_WORLD, plan, as_planned());
      const std::size_t bytes = rank_in(MPI_COMM_WORLD) == odd_rank ? odd_size : 10'000'000;
      std::vector<std::byte> buffer(bytes);
      EXPECT_THAT(refusal_of(broadcast, buffer, bytes), HasSubstr("disagree on the size"));
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST(Refusal, PortsAndRoundsTogether) {
  BroadcastOptions options = as_planned();
  options.ports = 1;
  options.rounds = true;
  planner::Plan plan = chain_here();
  for (std::size_t i = 0; i < plan.broadcast_trees[0].edges.size(); ++i) {
    plan.broadcast_trees[0].colors.push_back(i % 2);
  }
  EXPECT_THAT(refusal_of(plan, options), HasSubstr("ports and rounds exclude each other"));
}

TEST(Refusal, SizesThatDifferAmongRanks) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
  // One segment more, one less, a shorter segment, nothing at all: on the source and on the last
  // rank.
  for (const int odd_rank : {0, static_cast<int>(ranks) - 1}) {
    for (const std::size_t odd_size : {0UL, 250UL, 299UL, 301UL, 1000UL}) {
      Broadcast broadcast(MPI_COMM_WORLD, chain_here(), as_planned());
      std::vector<std::byte> buffer(1000);
      const std::size_t bytes = rank_in(MPI_COMM_WORLD) == odd_rank ? odd_size : 300;
      const std::string refusal = refusal_of(broadcast, buffer, bytes);
      EXPECT_THAT(refusal, HasSubstr("disagree on the size"));
      EXPECT_THAT(refusal, HasSubstr(std::to_string(bytes) + " bytes on rank"));
      EXPECT_THROW(broadcast.run(buffer.data(), 10, MPI_BYTE), std::logic_error);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST(Refusal, SizesThatOverflow) {
  Broadcast broadcast(MPI_COMM_WORLD, chain_here(), as_planned());
  EXPECT_THROW(broadcast.run(nullptr, SIZE_MAX, MPI_DOUBLE), InputError);
}

TEST(Refusal, ErrorsOfMpiContainItsText) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  try {
    runtime::check(MPI_Send(nullptr, 0, MPI_INT, 0, -5, comm), "sending segment 3");
    ADD_FAILURE() << "accepted";
  } catch (const runtime::MpiError& error) {
    EXPECT_THAT(error.what(), HasSubstr("sending segment 3: "));
    EXPECT_THAT(error.what(), ::testing::ContainsRegex("tag"));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
  MPI_Comm_free(&comm);
}

TEST(SharePlan, GivesAllRanksThePlanOrTheRefusal) {
  EXPECT_THROW((void)runtime::share_plan(MPI_COMM_WORLD, "/no/such/plan.json"), InputError);
  try {
    (void)runtime::share_plan(MPI_COMM_WORLD, ESPALIER_SOURCE_DIR "/CMakeLists.txt");
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("CMakeLists.txt"));
  }
}

}  // namespace
}  // namespace espalier::testing::refusal_test
