// Messages that are not in memory: limited buffers that are reused, and stores that fail.
#include <gtest/gtest.h>
#include <mpi.h>

#include <random>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/support/draws.hpp"

namespace espalier::testing::stream_test {
namespace {

using runtime::Broadcast;

class Streams : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Streams, DeliverTheMessageThroughSmallBuffers) {
  std::mt19937_64 random(GetParam());
  planner::Plan plan = random_plan(size_of(MPI_COMM_WORLD), 500, 8, random);
  if (GetParam() % 2 == 0) plan = over_long_links(std::move(plan), random);
  Broadcast broadcast(MPI_COMM_WORLD, plan, as_planned());
  for (int i = 0; i < 4; ++i) {
    auto shape = broadcast.stream_shape(kAnyMessage, 1 + random() % 40000);
    if (i % 2 == 0) shape.segments_per_tree = 1 + random() % 4;
    const std::uint64_t bytes = random() % 50000;
    TestStore store(shape, GetParam());
    EXPECT_TRUE(broadcast.stream(bytes, shape, store));
    EXPECT_EQ(store.wrong(), 0U);
    if (rank_in(MPI_COMM_WORLD) != broadcast.root()) {
      EXPECT_EQ(store.bytes(), bytes);
    }
  }
}

// Stores fail on any ranks, at any time, also on several at once: all ranks learn of it, there is
// no deadlock, and the next message is complete.
TEST_P(Streams, StopIfAStoreFailsAndThenWorkAgain) {
  std::mt19937_64 random(GetParam() + 1000);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  Broadcast broadcast(MPI_COMM_WORLD, random_plan(ranks, 300, 5, random), as_planned());
  const auto shape = broadcast.stream_shape(kAnyMessage, 1 << 20);
  for (int i = 0; i < 6; ++i) {
    const std::uint64_t bytes = 300 * (1 + random() % 100);
    const std::uint64_t segments = bytes / shape.segment_bytes;
    const auto first = static_cast<int>(random() % ranks);
    const auto second = static_cast<int>(random() % ranks);
    const std::uint64_t at = 1 + random() % segments;
    TestStore store(shape, random());
    if (rank_in(MPI_COMM_WORLD) == first || rank_in(MPI_COMM_WORLD) == second) store.fails_at = at;
    EXPECT_FALSE(broadcast.stream(bytes, shape, store));
    EXPECT_EQ(store.wrong(), 0U);

    TestStore whole(shape, random());
    EXPECT_TRUE(broadcast.stream(bytes + 1, shape, whole));
    EXPECT_EQ(whole.wrong(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Streams, ::testing::Range<std::uint64_t>(1, 1 + draws(20)));

TEST(StreamShape, FitsTheBufferForAnyNumberOfTrees) {
  std::mt19937_64 random(1);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  for (const std::size_t trees : {1UL, 2UL, 20UL, 300UL}) {
    std::vector<planner::PlanTree> many;
    for (std::size_t i = 0; i < trees; ++i) many.push_back(random_tree(ranks, 0, 1.0, random));
    const Broadcast broadcast(MPI_COMM_WORLD, plan_of(ranks, 0, many, 1 << 20), as_planned());
    constexpr std::uint64_t kBuffer = std::uint64_t{16} << 20;
    const auto shape = broadcast.stream_shape(kAnyMessage, kBuffer);
    EXPECT_EQ(shape.trees, trees);
    EXPECT_GE(shape.segments_per_tree, 2U);
    EXPECT_LE(shape.segment_bytes, 1U << 20);
    EXPECT_LE(shape.segment_bytes * shape.segments_per_tree * trees, kBuffer);
    if (trees == 1) {
      EXPECT_EQ(shape.segment_bytes, 1U << 20);
    }
  }
}

}  // namespace
}  // namespace espalier::testing::stream_test
