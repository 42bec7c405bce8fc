// A rank that does not take part: the others time out and report the rank for which they wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <memory>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "runtime/api/reduction.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing::timeout_test {
namespace {

using runtime::Broadcast;
using runtime::BroadcastOptions;
using runtime::TimedOut;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kMissing = 1;
constexpr std::size_t kMessage =
    1'000'000;  // too long for MPI to complete a send that is not received

BroadcastOptions short_timeout(bool check_sizes) {
  BroadcastOptions options = as_planned();
  options.timeout = Seconds{0.3};
  options.check_sizes = check_sizes;
  return options;
}

// The error message of a run in which rank kMissing does not take part. The broadcasts and buffers
// are leaked, because MPI may still use them.
std::string timeout_error(const planner::Plan& plan, const BroadcastOptions& options,
                          std::size_t message = kMessage) {
  auto* const broadcast = new Broadcast(MPI_COMM_WORLD, plan, options);
  auto* const buffer = new std::vector<std::byte>(message);
  std::string text = "took no part";
  if (rank_in(MPI_COMM_WORLD) != kMissing) {
    try {
      broadcast->run(buffer->data(), buffer->size(), MPI_BYTE);
      text = "was done";
    } catch (const TimedOut& error) {
      EXPECT_EQ(error.status(), ExitStatus::kLimitReached);
      text = error.what();
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return text;
}

// 0 -> 1 -> 2, and 1 does not take part.
TEST(Timeout, NamesSegmentsAndPeers) {
  const auto plan = plan_shaped(Shape::kChain, size_of(MPI_COMM_WORLD), 0, 100'000);
  const std::string text = timeout_error(plan, short_timeout(false));
  switch (rank_in(MPI_COMM_WORLD)) {
    case 0:
      EXPECT_EQ(
          text,
          "rank 0: no progress for 0.3 s; sending segment 0 (number 0 of tree 0) to rank 1 (1 "
          "more in progress)");
      break;
    case 2:
      EXPECT_EQ(text,
                "rank 2: no progress for 0.3 s; receiving segment 0 (number 0 of tree 0) from rank "
                "1 (3 more in progress)");
      break;
    default:
      break;
  }
}

// The error message of a reduction in which rank kMissing does not take part.
std::string reduction_error(const planner::Plan& plan, const runtime::CollectiveOptions& options) {
  auto* const reduction = new runtime::Reduction(MPI_COMM_WORLD, plan, options);
  auto* const own = new std::vector<double>(kMessage);
  auto* const sum = new std::vector<double>(kMessage);
  std::string text = "took no part";
  if (rank_in(MPI_COMM_WORLD) != kMissing) {
    try {
      reduction->run(own->data(), sum->data(), kMessage, MPI_DOUBLE, MPI_SUM);
      text = "was done";
    } catch (const TimedOut& error) {
      text = error.what();
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return text;
}

// 0 <- 1 <- 2, and 1 does not take part; of an allreduce 0 -> 1 -> 2 as well.
TEST(Timeout, OfReductionsNamesSegmentsAndPeers) {
  const auto chain = plan_shaped(Shape::kChain, size_of(MPI_COMM_WORLD), 0, 100'000);
  for (const planner::Plan& plan : {reduce_plan(chain), allreduce_plan(chain, chain)}) {
    const std::string text = reduction_error(plan, short_timeout(false));
    if (rank_in(MPI_COMM_WORLD) == 0) {
      EXPECT_THAT(text,
                  ContainsRegex("^rank 0: no progress for 0.3 s; receiving segment 0 \\(number "
                                "0 of tree 0\\) from rank 1 \\([0-9]+ more in progress\\)$"));
    } else if (rank_in(MPI_COMM_WORLD) == 2) {
      EXPECT_THAT(text, HasSubstr("rank 2: no progress for 0.3 s; "));
      EXPECT_THAT(text, HasSubstr("sending segment 0 (number 0 of tree 0) to rank 1"));
    }
  }
}

TEST(Timeout, OfReductionsNamesTheComparisonOfCalls) {
  const auto plan = plan_shaped(Shape::kFlat, size_of(MPI_COMM_WORLD), 0, 100'000);
  const std::string text = reduction_error(reduce_plan(plan), short_timeout(true));
  if (rank_in(MPI_COMM_WORLD) != kMissing) {
    EXPECT_THAT(text, HasSubstr("comparing the calls of the ranks (some have not begun)"));
  }
}

TEST(Timeout, DoesNotEndASlowReductionThatMakesProgress) {
  runtime::ReductionOptions options;
  options.timeout = Seconds{20};
  const auto chain = plan_shaped(Shape::kChain, size_of(MPI_COMM_WORLD), 0, 1000);
  for (const planner::Plan& plan : {reduce_plan(chain), allreduce_plan(chain, chain)}) {
    runtime::Reduction reduction(MPI_COMM_WORLD, plan, options);
    const std::vector<double> own(kMessage / 8, 1);
    std::vector<double> sum(own.size());
    for (int i = 0; i < 3; ++i)
      reduction.run(own.data(), sum.data(), own.size(), MPI_DOUBLE, MPI_SUM);
    if (rank_in(MPI_COMM_WORLD) == 0) {
      EXPECT_EQ(sum.back(), size_of(MPI_COMM_WORLD));
    }
  }
}

// Through a ring in shared memory: the source times out when the ring is full.
TEST(Timeout, NamesSegmentsAndPeersOfRings) {
  BroadcastOptions options = short_timeout(false);
  options.direct_copies = true;
  const int rank = rank_in(MPI_COMM_WORLD);
  const auto from = [&](std::uint32_t source) {
    const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
    return timeout_error(plan_shaped(Shape::kChain, ranks, source, 100'000), options, 9'000'000);
  };
  const std::string as_reader = from(kMissing);
  if (rank != kMissing) {
    EXPECT_THAT(as_reader,
                ContainsRegex("^rank " + std::to_string(rank) +
                              ": no progress for 0.3 s; receiving segment 0 \\(number "
                              "0 of tree 0\\) from rank 1 \\([0-9]+ more in progress\\)$"));
  }
  const std::string as_writer = from(0);
  if (rank == 0) {
    EXPECT_THAT(as_writer, ContainsRegex("^rank 0: no progress for 0.3 s; sending segment [0-9]+ "
                                         "\\(number [0-9]+ of tree 0\\) to rank 1 \\([0-9]+ more "
                                         "in progress\\)$"));
  }
}

// All segments have arrived, but not all ranks have started.
TEST(Timeout, NamesTheComparisonOfSizes) {
  const auto plan = plan_shaped(Shape::kFlat, size_of(MPI_COMM_WORLD), 0, 100'000);
  const std::string text = timeout_error(plan, short_timeout(true));
  if (rank_in(MPI_COMM_WORLD) > kMissing) {
    EXPECT_EQ(text,
              "rank " + std::to_string(rank_in(MPI_COMM_WORLD)) +
                  ": no progress for 0.3 s; comparing the message's size among the ranks (some "
                  "have not begun)");
  }
}

TEST(Timeout, AppliesToTheConstructor) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);  // MPI may still use it afterwards
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const auto plan = plan_shaped(Shape::kFlat, size_of(MPI_COMM_WORLD), 0, 100'000);
  if (rank_in(MPI_COMM_WORLD) != kMissing) {
    try {
      const Broadcast broadcast(comm, plan, short_timeout(true));
      ADD_FAILURE() << "was made";
    } catch (const TimedOut& error) {
      EXPECT_THAT(error.what(), StartsWith("no progress for 0.3 s, waiting for all ranks to "));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Timeout, DoesNotEndASlowBroadcastThatMakesProgress) {
  BroadcastOptions options = short_timeout(true);
  options.timeout = Seconds{20};
  const auto plan = plan_shaped(Shape::kChain, size_of(MPI_COMM_WORLD), 0, 1000);
  Broadcast broadcast(MPI_COMM_WORLD, plan, options);
  std::vector<std::byte> buffer(kMessage, std::byte(rank_in(MPI_COMM_WORLD)));
  for (int i = 0; i < 3; ++i) broadcast.run(buffer.data(), buffer.size(), MPI_BYTE);
  EXPECT_EQ(buffer.back(), std::byte{0});
}

TEST(Timeout, InvalidTimesAreRefused) {
  for (const double seconds : {-1.0, std::numeric_limits<double>::infinity()}) {
    BroadcastOptions options;
    options.timeout = Seconds{seconds};
    try {
      const Broadcast broadcast(MPI_COMM_WORLD,
                                plan_shaped(Shape::kFlat, size_of(MPI_COMM_WORLD), 0, 1), options);
      ADD_FAILURE() << "accepted " << seconds;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("it must be finite and greater than 0"));
    }
  }
}

}  // namespace
}  // namespace espalier::testing::timeout_test
