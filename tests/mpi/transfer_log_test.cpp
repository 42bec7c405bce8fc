// A rank's log of its transfers.
#include "runtime/transport/transfer_log.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "tests/mpi/check_run.hpp"

namespace espalier::testing::transfer_log_test {
namespace {

using runtime::Broadcast;
using runtime::BroadcastOptions;
using runtime::Transfer;
using runtime::TransferLog;

// Each segment crosses each edge once: a rank receives all segments of the message, and sends those
// of a tree to each child.
TEST(TransferLog, ContainsEverySegmentOfEveryEdge) {
  const auto ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  const auto plan = plan_of(
      ranks, 0,
      {tree_shaped(Shape::kChain, ranks, 0, 2.0), tree_shaped(Shape::kFlat, ranks, 0, 1.0)}, 1000);
  TransferLog log(10'000);
  BroadcastOptions options = as_planned();
  options.transfers = &log;
  Broadcast broadcast(MPI_COMM_WORLD, plan, options);
  constexpr std::size_t kBytes = 29'500;  // 30 segments, 20 of them along the chain
  for (std::uint64_t message : {0, 1}) check_run(broadcast, MPI_COMM_WORLD, kBytes, message);

  std::size_t sends = 0;
  std::size_t received_bytes = 0;
  std::vector<int> came(30);
  for (const Transfer& one : log.transfers()) {
    EXPECT_LE(one.begun_s, one.ended_s);
    EXPECT_EQ(one.bytes, one.segment == 29 ? 500U : 1000U);
    EXPECT_LT(one.message, 2U);
    if (one.is_send) {
      ++sends;
      EXPECT_TRUE(one.tree == 0 ? one.peer == rank + 1 : rank == 0) << "to rank " << one.peer;
    } else {
      ++came.at(one.segment);
      received_bytes += one.bytes;
      EXPECT_EQ(one.peer, one.tree == 0 ? rank - 1 : 0);
    }
  }
  const bool has_child = static_cast<std::uint32_t>(rank) + 1 < ranks;
  EXPECT_EQ(sends, 2 * ((has_child ? 20U : 0U) + (rank == 0 ? 10 * (ranks - 1) : 0U)));
  EXPECT_EQ(received_bytes, rank == 0 ? 0 : 2 * kBytes);
  EXPECT_TRUE(std::all_of(came.begin(), came.end(),
                          [rank](int times) { return times == (rank == 0 ? 0 : 2); }));
  EXPECT_EQ(log.left_out(), 0U);
}

TEST(TransferLog, CountsTransfersThatDoNotFit) {
  const auto ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank sends nothing";
  TransferLog log(7);
  BroadcastOptions options = as_planned();
  options.transfers = &log;
  Broadcast broadcast(MPI_COMM_WORLD, plan_shaped(Shape::kChain, ranks, 0, 1000), options);
  check_run(broadcast, MPI_COMM_WORLD, 20'000, 0);
  const int rank = rank_in(MPI_COMM_WORLD);
  const bool is_end = rank == 0 || rank + 1 == static_cast<int>(ranks);
  EXPECT_EQ(log.transfers().size(), 7U);
  EXPECT_EQ(log.left_out(), is_end ? 13U : 33U);
}

}  // namespace
}  // namespace espalier::testing::transfer_log_test
