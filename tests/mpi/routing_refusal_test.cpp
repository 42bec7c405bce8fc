// Calls of scatter, gather and alltoall that are refused, on all ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "runtime/api/collective.hpp"
#include "support/errors.hpp"
#include "tests/mpi/interesting_counts.hpp"
#include "tests/mpi/routing_plans.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::testing::routing_refusal_test {
namespace {

using planner::Operation;
using runtime::Collective;
using ::testing::HasSubstr;

std::string refusal_of_call(Collective& collective, const Counts& counts,
                            MPI_Datatype type = MPI_BYTE) {
  std::vector<double> sent(1 << 12);
  std::vector<double> received(1 << 12);
  return refusal([&] {
    switch (collective.operation()) {
      case Operation::kScatter:
        return collective.scatter(sent.data(), received.data(), counts, {}, type);
      case Operation::kGather:
        return collective.gather(sent.data(), received.data(), counts, {}, type);
      default:
        return collective.alltoallv(sent.data(), counts, {}, received.data(), counts, {}, type);
    }
  });
}

class RoutingRefusal : public AmongRanks<::testing::TestWithParam<Operation>> {
 protected:
  [[nodiscard]] static Collective bound() { return {MPI_COMM_WORLD, plan_for(GetParam())}; }
};

TEST_P(RoutingRefusal, CountsForOtherRanks) {
  Collective collective = bound();
  const std::string expected =
      std::to_string(ranks() + 1) + " parts for " + std::to_string(ranks());
  EXPECT_THAT(refusal_of_call(collective, Counts(at(ranks() + 1), 1)), HasSubstr(expected));
}

TEST_P(RoutingRefusal, CountsBeyondMemory) {
  Collective collective = bound();
  EXPECT_THAT(refusal_of_call(collective, Counts(at(ranks()), SIZE_MAX / 8), MPI_DOUBLE),
              HasSubstr("the address space"));
}

TEST_P(RoutingRefusal, NoType) {
  Collective collective = bound();
  EXPECT_THAT(refusal_of_call(collective, Counts(at(ranks()), 1), MPI_DATATYPE_NULL),
              HasSubstr("MPI_DATATYPE_NULL"));
}

TEST_P(RoutingRefusal, CountsThatDifferAmongRanks) {
  Collective collective = bound();
  Counts counts(at(ranks()), 3 * kRoutedSegment);
  if (here() == 0) std::swap(counts.front() += 1, counts.back() -= 1);
  EXPECT_THAT(refusal_of_call(collective, counts),
              ::testing::AnyOf(HasSubstr("the ranks disagree on"), HasSubstr("which expects")));
}

TEST_P(RoutingRefusal, APartWithoutAPath) {
  planner::Plan plan = plan_for(GetParam());
  planner::PlanBlock& last = plan.blocks.back();
  const std::string from = "rank " + std::to_string(last.root) + " has ";
  const std::string to = " for rank " + std::to_string(*last.to) + ", but no path to it";
  if (plan.blocks.size() == 1) {
    GTEST_SKIP() << "it has one part only";
  }
  plan.blocks.pop_back();
  Collective collective(MPI_COMM_WORLD, plan);
  const std::string refusal = refusal_of_call(collective, Counts(at(ranks()), 5));
  EXPECT_THAT(refusal, HasSubstr(from + "5 bytes" + to));
}

TEST_P(RoutingRefusal, WhatNeedsTheWholeMessage) {
  const planner::Plan plan = plan_for(GetParam());
  const auto refused = [&](const runtime::CollectiveOptions& options) {
    return refusal([&] { Collective(MPI_COMM_WORLD, plan, options); });
  };
  runtime::CollectiveOptions options;
  options.rounds = true;
  EXPECT_THAT(refused(options), HasSubstr("rounds are for operations that copy or combine"));
  options.rounds = false;
  options.schedule = true;
  EXPECT_THAT(refused(options),
              HasSubstr("a schedule is for a broadcast, a reduce or an allreduce"));
}

TEST_P(RoutingRefusal, CallsForAnotherOperation) {
  Collective collective = bound();
  double one = 1;
  EXPECT_THROW(collective.run(&one, 1, MPI_DOUBLE), InputError);
  EXPECT_THROW(collective.allgather(&one, &one, Counts(at(ranks()), 0), {}, MPI_DOUBLE),
               InputError);
  if (GetParam() != Operation::kAlltoall) {
    EXPECT_THROW(collective.alltoall(&one, &one, 0, MPI_DOUBLE), InputError);
  }
  if (GetParam() != Operation::kScatter) {
    EXPECT_THROW(collective.scatter(&one, &one, Counts(at(ranks()), 0), {}, MPI_DOUBLE),
                 InputError);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RoutingRefusal,
                         ::testing::Values(Operation::kScatter, Operation::kGather,
                                           Operation::kAlltoall),
                         [](const auto& parameter) {
                           return std::string(planner::name_of(parameter.param));
                         });

using RefusedRouting = AmongRanks<::testing::Test>;

TEST_F(RefusedRouting, PartsInPlaceElsewhereThanOnTheRoot) {
  const Counts counts(at(ranks()), 3);
  std::vector<std::byte> memory(at(3 * ranks()));
  Collective scatter(MPI_COMM_WORLD, plan_for(Operation::kScatter));
  EXPECT_THAT(refusal([&] { scatter.scatter(memory.data(), MPI_IN_PLACE, counts, {}, MPI_BYTE); }),
              HasSubstr(here() == 0 ? "another rank refused" : "a rank that is not the root"));
  Collective gather(MPI_COMM_WORLD, plan_for(Operation::kGather));
  EXPECT_THAT(refusal([&] { gather.gather(memory.data(), MPI_IN_PLACE, counts, {}, MPI_BYTE); }),
              HasSubstr(here() == 0 ? "not for the parts of all ranks" : "another rank refused"));
}

TEST_F(RefusedRouting, PartsThatTheReceiverDoesNotExpect) {
  Collective collective(MPI_COMM_WORLD, plan_for(Operation::kAlltoall));
  const Counts sent(at(ranks()), 8);
  Counts received(at(ranks()), 8);
  if (here() == 1) received[0] = 9;
  std::vector<std::byte> from(at(8 * ranks()));
  std::vector<std::byte> to(at(9 * ranks()));
  EXPECT_THAT(refusal([&] {
                collective.alltoallv(from.data(), sent, {}, to.data(), received, {}, MPI_BYTE);
              }),
              HasSubstr("rank 0 sends 8 bytes to rank 1, which expects 9"));
}

}  // namespace
}  // namespace espalier::testing::routing_refusal_test
