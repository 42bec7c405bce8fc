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

struct Refused {
  const char* what;
  const char* expected;
  void (*change)(planner::Plan& plan, BroadcastOptions& options);
};

void color(planner::Plan& plan) {
  planner::PlanTree& tree = plan.broadcast_trees[0];
  for (std::size_t i = 0; i < tree.edges.size(); ++i) tree.colors.push_back(i % 2);
}

std::string refusal_with(const Refused& refused) {
  planner::Plan plan = chain_here();
  BroadcastOptions options = as_planned();
  refused.change(plan, options);
  return refusal_of(plan, options);
}

TEST(Refusal, PlansAndOptionsThatCannotBeRun) {
  const bool alone = size_of(MPI_COMM_WORLD) == 1;
  for (const Refused& refused : {
           Refused{"a plan with a fault", "/slice_bytes",
                   [](auto&plan, auto&) { plan.segment.value = 0; }},
           Refused{"empty windows", "window",
                   [](auto&, auto&options) { options.sends_in_flight = 0; }},
           Refused{"long segments", "MPI sends at most",
                   [](auto&, auto&options) { options.segment_bytes = std::uint64_t{1} << 31U; }},
           Refused{"rounds without colors",
                   alone ? "(not refused)"
                         : "/broadcast_trees/0: rounds need colors, which this plan's trees do not "
                           "have",
                   [](auto&, auto&options) { options.rounds = true; }},
           Refused{"ports and rounds", "ports and rounds exclude each other",
                   [](auto&plan, auto&options) {
                     color(plan);
                     options.ports = 1;
                     options.rounds = true;
                   }},
           Refused{"a schedule that the plan has not",
                   "/schedule: this plan has no schedule; make one with espalier plan --schedule",
                   [](auto&, auto&options) { options.schedule = true; }},
           Refused{"another operation", "/operation: the plan is for a reduce, not for a broadcast",
                   [](auto&plan, auto&) { plan = reduce_plan(std::move(plan)); }},
           Refused{
               "hosts that do not identify nodes", alone ? "node 'n0'" : "both run on host",
               [](auto&, auto&options) { options.mapping = runtime::RankMapping::kByHostName; }},
       }) {
    EXPECT_THAT(refusal_with(refused), HasSubstr(refused.expected)) << refused.what;
  }
}

TEST(Refusal, OnOneRankIsReportedOnAll) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank agrees with itself";
  for (const Refused& refused : {
           Refused{"another plan", "different plans or options",
                   [](auto&plan, auto&) { plan.segment.value = 101; }},
           Refused{"rounds", "different plans or options",
                   [](auto&, auto&options) { options.rounds = true; }},
           Refused{"another window", "different plans or options",
                   [](auto&, auto&options) { options.receives_in_flight = 7; }},
           Refused{"a fault", "'nobody'", [](auto&plan, auto&) { plan.source = "nobody"; }},
       }) {
    planner::Plan plan = chain_here();
    color(plan);
    BroadcastOptions options = as_planned();
    if (rank_in(MPI_COMM_WORLD) == 1) refused.change(plan, options);
    EXPECT_THAT(refusal_of(plan, options), HasSubstr(refused.expected)) << refused.what;
  }
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
