// Broadcasts deliver the message: every root, sizes around multiples of the segment, many trees,
// windows, communicators.
#include "runtime/api/broadcast.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <random>
#include <thread>
#include <vector>

#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/support/draws.hpp"

namespace espalier::testing::broadcast_test {
namespace {

using runtime::Broadcast;
using runtime::BroadcastOptions;

class Shapes : public ::testing::TestWithParam<Shape> {};

TEST_P(Shapes, EveryRootAndSizesAroundSegmentBoundaries) {
  constexpr std::size_t kSegment = 64;
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  std::uint64_t message = 0;
  for (std::uint32_t source = 0; source < ranks; ++source) {
    SCOPED_TRACE(source);
    Broadcast broadcast(MPI_COMM_WORLD, plan_shaped(GetParam(), ranks, source, kSegment),
                        as_planned());
    EXPECT_EQ(broadcast.root(), static_cast<int>(source));
    for (const std::size_t bytes : {0UL, 1UL, kSegment - 1, kSegment, kSegment + 1, 2 * kSegment,
                                    10 * kSegment, 20 * kSegment + 7}) {
      check_run(broadcast, MPI_COMM_WORLD, bytes, message++);
    }
  }
}

TEST_P(Shapes, SegmentsBeyondTheEagerLimit) {
  constexpr std::size_t kSegment = 200'000;
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  BroadcastOptions options = as_planned();
  options.segment_bytes = kSegment;
  Broadcast broadcast(MPI_COMM_WORLD, plan_shaped(GetParam(), ranks, ranks - 1, kSegment), options);
  for (const std::size_t bytes : {kSegment, kSegment + 1, 11 * kSegment + 4321}) {
    check_run(broadcast, MPI_COMM_WORLD, bytes, bytes);
  }
}

TEST_P(Shapes, EveryWindow) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const planner::Plan plan = plan_shaped(GetParam(), ranks, 0, 100);
  for (const std::size_t sends : {1UL, 2UL, 3UL, 50UL}) {
    for (const std::size_t receives : {1UL, 2UL, 5UL, 50UL}) {
      BroadcastOptions options = as_planned();
      options.sends_in_flight = sends;
      options.receives_in_flight = receives;
      Broadcast broadcast(MPI_COMM_WORLD, plan, options);
      check_run(broadcast, MPI_COMM_WORLD, 3333, sends * 100 + receives);
    }
  }
}

// So large that the source sleeps between polls where ranks outnumber the processors.
TEST_P(Shapes, LargeMessages) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  BroadcastOptions options = as_planned();
  options.segment_bytes = 30'000;
  Broadcast broadcast(MPI_COMM_WORLD, plan_shaped(GetParam(), ranks, 0, 30'000), options);
  check_run(broadcast, MPI_COMM_WORLD, 1'200'345, 1);
}

INSTANTIATE_TEST_SUITE_P(All, Shapes,
                         ::testing::Values(Shape::kChain, Shape::kFlat, Shape::kBinary),
                         [](const auto& shape) { return name_of(shape.param); });

class RandomPlans : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomPlans, WithManyTrees) {
  std::mt19937_64 random(GetParam());
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const std::uint64_t segment = 1 + random() % (GetParam() % 4 == 0 ? 20000 : 300);
  const planner::Plan plan = random_plan(ranks, segment, 12, random);
  BroadcastOptions options = as_planned();
  options.sends_in_flight = 1 + random() % 4;
  options.receives_in_flight = 1 + random() % 6;
  options.segment_bytes = segment;
  SCOPED_TRACE(planner::to_json(plan));
  Broadcast broadcast(MPI_COMM_WORLD, plan, options);
  for (int i = 0; i < 5; ++i) {
    check_run(broadcast, MPI_COMM_WORLD, random() % (segment * 60), random());
  }
}

// Windows that depend on the edge and on the segment size; trees that end at different times.
TEST_P(RandomPlans, WithLongLatencies) {
  std::mt19937_64 random(GetParam() + 300);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const planner::Plan plan = over_long_links(random_plan(ranks, 50'000, 12, random), random);
  for (const std::uint64_t segment : {0UL, 700UL, 20'000UL}) {
    BroadcastOptions options = as_planned();
    options.sends_in_flight = 1 + random() % 2;
    options.receives_in_flight = 1 + random() % 4;
    options.segment_bytes = segment;
    Broadcast broadcast(MPI_COMM_WORLD, plan, options);
    for (int i = 0; i < 3; ++i) {
      check_run(broadcast, MPI_COMM_WORLD, random() % 1'000'000, random());
    }
  }
}

TEST_P(RandomPlans, WithDirectCopies) {
  std::mt19937_64 random(GetParam() + 900);
  const planner::Plan plan = random_plan(size_of(MPI_COMM_WORLD), 1, 12, random);
  BroadcastOptions options;
  options.sends_in_flight = 1 + random() % 4;
  options.receives_in_flight = 1 + random() % 6;
  for (const std::uint64_t segment : {100UL, 20'000UL}) {
    options.segment_bytes = segment;
    Broadcast broadcast(MPI_COMM_WORLD, plan, options);
    for (int i = 0; i < 3; ++i) {
      check_run(broadcast, MPI_COMM_WORLD, random() % (segment * 60), random());
    }
  }
}

// Segments below and above the eager limit: above it, a send lasts until it has been received.
TEST_P(RandomPlans, WithFewPorts) {
  std::mt19937_64 random(GetParam() + 500);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const planner::Plan plan = random_plan(ranks, 1, 12, random);
  BroadcastOptions options = as_planned();
  options.ports = 1 + random() % 3;
  options.sends_in_flight = 1 + random() % 4;
  options.receives_in_flight = 1 + random() % 6;
  for (const std::uint64_t segment : {100UL, 20'000UL}) {
    options.segment_bytes = segment;
    Broadcast broadcast(MPI_COMM_WORLD, plan, options);
    for (int i = 0; i < 3; ++i) {
      check_run(broadcast, MPI_COMM_WORLD, random() % (segment * 60), random());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlans, ::testing::Range<std::uint64_t>(1, 1 + draws(40)));

TEST(Broadcast, MoreTreesThanSegments) {
  std::mt19937_64 random(3);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  std::vector<planner::PlanTree> trees;
  for (int i = 0; i < 100; ++i) trees.push_back(random_tree(ranks, 0, 1.0, random));
  Broadcast broadcast(MPI_COMM_WORLD, plan_of(ranks, 0, trees, 10), as_planned());
  for (const std::size_t bytes : {0UL, 1UL, 10UL, 99UL, 5000UL}) {
    check_run(broadcast, MPI_COMM_WORLD, bytes, bytes);
  }
}

// Ranks start and finish at different times; consecutive messages must not mix.
TEST(Broadcast, ConsecutiveMessagesDoNotMix) {
  std::mt19937_64 random(5);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const planner::Plan plan = random_plan(ranks, 50, 4, random);
  std::mt19937 own(static_cast<unsigned>(rank_in(MPI_COMM_WORLD)) + 1);
  for (const bool check_sizes : {true, false}) {
    BroadcastOptions options = as_planned();
    options.check_sizes = check_sizes;
    Broadcast broadcast(MPI_COMM_WORLD, plan, options);
    for (std::uint64_t message = 0; message < 60; ++message) {
      if (own() % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      check_run(broadcast, MPI_COMM_WORLD, 37 * (message % 50), message);
    }
  }
}

TEST(Broadcast, TwoPlansOnOneCommunicator) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  Broadcast one(MPI_COMM_WORLD, plan_shaped(Shape::kChain, ranks, 0, 16));
  Broadcast other(MPI_COMM_WORLD, plan_shaped(Shape::kBinary, ranks, ranks - 1, 24));
  for (std::uint64_t message = 0; message < 10; ++message) {
    check_run(one, MPI_COMM_WORLD, 200, message);
    check_run(other, MPI_COMM_WORLD, 500, message + 100);
  }
}

TEST(Broadcast, OnPartsOfTheWorldConcurrently) {
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);  // and in reverse
  std::mt19937_64 random(static_cast<std::uint64_t>(rank % 2) + 17);
  {
    Broadcast broadcast(half, random_plan(size_of(half), 33, 5, random), as_planned());
    for (std::uint64_t message = 0; message < 20; ++message) {
      check_run(broadcast, half, 1000, message + static_cast<std::uint64_t>(rank % 2));
    }
  }
  MPI_Comm_free(&half);
}

TEST(Broadcast, WithTheRanksReversedOnACommunicatorThatIsFreed) {
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_in(MPI_COMM_WORLD), &reversed);
  MPI_Comm_dup(reversed, &copy);
  std::mt19937_64 random(23);
  Broadcast broadcast =
      runtime::plan_on(reversed, random_plan(size_of(reversed), 64, 3, random), as_planned());
  MPI_Comm_free(&reversed);  // the broadcast has its own copy
  check_run(broadcast, copy, 4000, 2);
  MPI_Comm_free(&copy);
}

TEST(Broadcast, CanBeMovedAndReportsItsNode) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  Broadcast first(MPI_COMM_WORLD, plan_shaped(Shape::kFlat, ranks, 0, 8));
  Broadcast second = std::move(first);
  EXPECT_EQ(second.node(), "n" + std::to_string(rank_in(MPI_COMM_WORLD)));
  EXPECT_EQ(second.segment_bytes(100), 8U);
  check_run(second, MPI_COMM_WORLD, 100, 1);
}

TEST(Broadcast, ReportsProgressUpToTheWholeMessage) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  std::vector<std::uint64_t> reported;
  BroadcastOptions options = as_planned();
  options.on_progress = [&](std::uint64_t bytes) { reported.push_back(bytes); };
  Broadcast broadcast(MPI_COMM_WORLD, plan_shaped(Shape::kChain, ranks, 0, 10), options);
  check_run(broadcast, MPI_COMM_WORLD, 95, 1);
  ASSERT_EQ(reported.size(), 10U);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_EQ(reported.back(), 95U);
}

// A segment size that exceeds MPI's int counts.
TEST(Broadcast, ASegmentLargerThanAnyMessage) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  Broadcast broadcast(MPI_COMM_WORLD, plan_shaped(Shape::kFlat, ranks, 0, UINT64_MAX),
                      as_planned());
  EXPECT_EQ(broadcast.segment_bytes(UINT64_MAX), 1U << 30);
  check_run(broadcast, MPI_COMM_WORLD, 12345, 1);
}

}  // namespace
}  // namespace espalier::testing::broadcast_test
