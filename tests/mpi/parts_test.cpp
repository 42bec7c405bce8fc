// Allgather, reduce-scatter and allreduce where every rank is a root.
#include "runtime/api/parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "runtime/api/collective.hpp"
#include "runtime/api/reduction.hpp"
#include "support/errors.hpp"
#include "tests/mpi/check_allgather.hpp"
#include "tests/mpi/check_reduction.hpp"
#include "tests/mpi/interesting_counts.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::testing::parts_test {
namespace {

using planner::Operation;
using runtime::Collective;
using ::testing::HasSubstr;

constexpr std::uint64_t kSegment = 96;

planner::Plan plan_for(Operation operation, std::uint64_t seed = 1,
                       std::uint64_t segment = kSegment) {
  std::mt19937_64 random(seed);
  return parts_plan(operation, size_of(MPI_COMM_WORLD), segment, 3, random);
}

TEST(Allgather, EveryPartReachesEveryRank) {
  std::uint64_t message = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Collective collective(MPI_COMM_WORLD, plan_for(Operation::kAllgather, seed));
    for (const Counts& counts : interesting_counts(kSegment)) {
      check_allgather(collective, counts, 0, ++message, InPlace::kNo);
      check_allgather(collective, counts, 5, ++message, InPlace::kYes);
    }
  }
}

// The last rank has no share in the plan, and so no part.
TEST(Allgather, ARankWithoutAShareHasNoPart) {
  const std::size_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks < 2) GTEST_SKIP() << "one rank has everything";
  planner::Plan plan = plan_for(Operation::kAllgather);
  plan.blocks.pop_back();
  const double rest = static_cast<double>(ranks) / static_cast<double>(ranks - 1);
  for (planner::PlanBlock& block : plan.blocks) {
    block.share *= rest;
    for (planner::PlanTree& tree : block.trees) tree.rate.value *= rest;
  }
  Collective collective(MPI_COMM_WORLD, plan);
  EXPECT_EQ(collective.shares().back(), 0);
  Counts counts(ranks, 4 * kSegment + 1);
  counts.back() = 0;
  check_allgather(collective, counts, 0, 1, InPlace::kNo);
  counts.back() = 1;
  std::vector<std::byte> memory(ranks * (4 * kSegment + 1));
  try {
    collective.allgather(MPI_IN_PLACE, memory.data(), counts, {}, MPI_BYTE);
    ADD_FAILURE() << "not refused";
  } catch (const InputError& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("has 1 element, but no share in the plan"));
  }
}

TEST(Allgather, ElementsWithHoles) {
  Collective collective(MPI_COMM_WORLD, plan_for(Operation::kAllgather));
  check_allgather_with_holes(collective);
}

// Each rank combines and spreads a share of its own.
TEST(Allreduce, WithSeveralRootsTheSumReachesEveryRank) {
  constexpr std::size_t kPerSegment = kSegment / sizeof(double);
  std::uint64_t message = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Collective collective(MPI_COMM_WORLD, plan_for(Operation::kAllreduce, seed));
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, kPerSegment - 1, kPerSegment,
                                    kPerSegment + 1, 20 * kPerSegment + 5, std::size_t{4001}}) {
      check_sum(collective, MPI_COMM_WORLD, count, ++message);
      check_sum(collective, MPI_COMM_WORLD, count, ++message, InPlace::kYes);
    }
  }
}

TEST(ReduceScatter, EveryRankHasItsPartOfTheSum) {
  constexpr double kMark = -77;
  const int rank = rank_in(MPI_COMM_WORLD);
  const auto here = static_cast<std::size_t>(rank);
  std::uint64_t message = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Collective collective(MPI_COMM_WORLD, plan_for(Operation::kReduceScatter, seed));
    for (const Counts& counts : interesting_counts(kSegment / sizeof(double))) {
      for (const bool in_place : {false, true}) {
        ++message;
        const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
        const std::size_t before = runtime::one_after_another(counts)[here];
        std::vector<double> own(total);
        for (std::size_t i = 0; i < total; ++i) own[i] = element_of<double>(i, rank, message);
        std::vector<double> result(in_place ? own : std::vector<double>(counts[here], kMark));
        result.resize(result.size() + kGuard, kMark);
        collective.reduce_scatter(in_place ? MPI_IN_PLACE : static_cast<const void*>(own.data()),
                                  result.data(), counts, MPI_DOUBLE, MPI_SUM);
        for (std::size_t i = 0; i < counts[here]; ++i) {
          double expected = 0;
          for (int other = 0; other < static_cast<int>(counts.size()); ++other) {
            expected += element_of<double>(before + i, other, message);
          }
          ASSERT_EQ(result[i], expected) << ::testing::PrintToString(counts) << ", element " << i;
        }
        for (std::size_t i = result.size() - kGuard; i < result.size(); ++i) {
          ASSERT_EQ(result[i], kMark);
        }
        for (std::size_t i = 0; i < total; ++i) {
          ASSERT_EQ(own[i], element_of<double>(i, rank, message)) << "sendbuf was written to";
        }
      }
    }
  }
}

// Elements with holes go along trees; operations that do not commute go to MPI.
TEST(ReduceScatter, LocationsAndLastOneWins) {
  struct Entry {
    double value;
    int place;
  };
  const int rank = rank_in(MPI_COMM_WORLD);
  const auto ranks = size_of(MPI_COMM_WORLD);
  Collective collective(MPI_COMM_WORLD, plan_for(Operation::kReduceScatter));
  const Counts counts(ranks, 40);
  std::vector<Entry> own(40 * std::size_t{ranks});
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = {element_of<double>(i, rank, 5), rank};
  std::vector<Entry> result(40);
  collective.reduce_scatter(own.data(), result.data(), counts, MPI_DOUBLE_INT, MPI_MAXLOC);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t at = static_cast<std::size_t>(rank) * 40 + i;
    int best = 0;
    for (int other = 1; other < static_cast<int>(ranks); ++other) {
      if (element_of<double>(at, other, 5) > element_of<double>(at, best, 5)) best = other;
    }
    ASSERT_EQ(result[i].place, best) << i;
  }
  MPI_Op last = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 0, &last);  // keeps the later rank's
  std::vector<int> numbers(40 * std::size_t{ranks}, rank);
  std::vector<int> kept(40, -1);
  collective.reduce_scatter(numbers.data(), kept.data(), counts, MPI_INT, last);
  EXPECT_THAT(kept, ::testing::Each(static_cast<int>(ranks) - 1));
  MPI_Op_free(&last);
}

std::string refusal_of(Collective& collective, const Counts& counts, MPI_Datatype type) {
  std::vector<double> memory(1 << 12);
  return espalier::testing::refusal([&] {
    if (collective.operation() == Operation::kAllgather) {
      collective.allgather(MPI_IN_PLACE, memory.data(), counts, {}, type);
    } else {
      collective.reduce_scatter(MPI_IN_PLACE, memory.data(), counts, type, MPI_SUM);
    }
  });
}

class PartsRefusal : public ::testing::TestWithParam<Operation> {
 protected:
  Collective collective{MPI_COMM_WORLD, plan_for(GetParam())};
  std::size_t ranks = size_of(MPI_COMM_WORLD);
};

TEST_P(PartsRefusal, CountsForOtherRanks) {
  const std::string expected = std::to_string(ranks + 1) + " parts for " + std::to_string(ranks);
  EXPECT_THAT(refusal_of(collective, Counts(ranks + 1, 1), MPI_DOUBLE), HasSubstr(expected));
}

TEST_P(PartsRefusal, CountsBeyondMemory) {
  EXPECT_THAT(refusal_of(collective, Counts(ranks, SIZE_MAX / 8), MPI_DOUBLE),
              HasSubstr("the address space"));
}

TEST_P(PartsRefusal, CountsThatDifferAmongRanks) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  Counts counts(ranks, 8);
  if (rank_in(MPI_COMM_WORLD) == 0) std::swap(counts.front() += 1, counts.back() -= 1);
  EXPECT_THAT(refusal_of(collective, counts, MPI_DOUBLE), HasSubstr("the ranks disagree on"));
}

TEST_P(PartsRefusal, CallsForAnotherOperation) {
  double one = 1;
  EXPECT_THROW(collective.run(&one, 1, MPI_DOUBLE), InputError);
  EXPECT_THROW(collective.run(&one, &one, 1, MPI_DOUBLE, MPI_SUM), InputError);
  const bool gathers = GetParam() == Operation::kAllgather;
  Collective other(MPI_COMM_WORLD,
                   plan_for(gathers ? Operation::kReduceScatter : Operation::kAllgather));
  const Counts counts(ranks, 1);
  std::vector<double> memory(ranks);
  if (gathers) {
    EXPECT_THROW(other.allgather(MPI_IN_PLACE, memory.data(), counts, {}, MPI_DOUBLE), InputError);
  } else {
    EXPECT_THROW(other.reduce_scatter(MPI_IN_PLACE, memory.data(), counts, MPI_DOUBLE, MPI_SUM),
                 InputError);
  }
}

TEST_P(PartsRefusal, RoundsAndSchedules) {
  runtime::ReductionOptions options;
  options.rounds = true;
  EXPECT_THROW(Collective(MPI_COMM_WORLD, plan_for(GetParam()), options), InputError);
  options.rounds = false;
  options.schedule = true;
  EXPECT_THROW(Collective(MPI_COMM_WORLD, plan_for(GetParam()), options), InputError);
}

INSTANTIATE_TEST_SUITE_P(Both, PartsRefusal,
                         ::testing::Values(Operation::kAllgather, Operation::kReduceScatter),
                         [](const auto& parameter) {
                           return parameter.param == Operation::kAllgather ? "Allgather"
                                                                           : "ReduceScatter";
                         });

}  // namespace
}  // namespace espalier::testing::parts_test
