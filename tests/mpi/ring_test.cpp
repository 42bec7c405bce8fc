// Segments sent through a host's shared memory. The tests assign ranks to hosts; between hosts,
// ranks send by MPI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "runtime/api/reduction.hpp"
#include "runtime/memory/direct_copies.hpp"
#include "runtime/memory/host_ring.hpp"
#include "runtime/memory/stores.hpp"
#include "runtime/transport/call_check.hpp"
#include "runtime/transport/mpi_engine.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "support/errors.hpp"
#include "tests/mpi/check_reduction.hpp"
#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/support/draws.hpp"

namespace espalier::testing::ring_test {
namespace {

using runtime::Broadcast;
using runtime::BroadcastOptions;

constexpr std::size_t kCell = runtime::HostRing::kCellBytes;
constexpr std::size_t kRing = kCell * runtime::HostRing::kMostCells;

// A broadcast for check_run.
class OnHosts {
 public:
  // hosts: the assumed host of each rank. In fact all ranks share one host.
  OnHosts(MPI_Comm comm, const planner::Plan& plan, const std::vector<int>& hosts, int root)
      : comm_(comm), root_(root), segment_(plan.segment.value) {
    const int rank = comm_.rank();
    std::vector<int> rank_of_node(hosts.size());
    for (std::size_t i = 0; i < hosts.size(); ++i) rank_of_node[i] = static_cast<int>(i);
    const auto& trees = plan.broadcast_trees;
    const auto rings = runtime::rings_for_copies(trees, rank_of_node, hosts);
    engine::Block block{.is_root = rank == root,
                        .trees = engine::roles_of(trees, rank_of_node, rank, hosts),
                        .assignment = planner::assignments_of(plan).front()};
    runtime::MpiTransportOptions options;
    options.root = root;
    options.rings = runtime::share_rings(comm_.get(), rings);
    EXPECT_EQ(options.rings != nullptr, !rings.empty());
    runtime::use_rings(block.trees, rank, rings);
    engine_ = std::make_unique<runtime::MpiEngine>(comm_.get(), std::vector{std::move(block)},
                                                   engine::Options{}, std::move(options));
  }
  [[nodiscard]] int root() const { return root_; }
  void run(std::byte* buffer, std::size_t bytes, MPI_Datatype /*bytes*/) {
    runtime::MemoryStore store(buffer);
    runtime::CallCheck sizes(bytes);
    const std::vector<engine::Range> ranges{{0, {bytes, segment_}}};
    engine_->prepare({}, ranges, {MPI_BYTE, 1, bytes, &sizes});
    engine_->run(store);
  }

 private:
  runtime::OwnedComm comm_;
  int root_;
  std::uint64_t segment_;
  std::unique_ptr<runtime::MpiEngine> engine_;
};

// Segments smaller than, equal to and larger than a cell; messages larger than the ring; several
// writers on a host, with different readers for each tree.
TEST(Rings, OfRandomTreesOverRandomHosts) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  for (std::uint64_t seed = 1; seed <= draws(24); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<int> hosts;
    for (std::uint32_t i = 0; i < ranks; ++i) {
      hosts.push_back(static_cast<int>(random() % (1 + seed % 4)));
    }
    const std::uint64_t segment = std::vector<std::uint64_t>{
        700, kCell - 1, kCell, kCell + 1, 3 * kCell + 17, 10 * kCell}[seed % 6];
    const auto source = static_cast<std::uint32_t>(random() % ranks);
    planner::Plan plan = random_plan_from(source, ranks, segment, 5, random);
    if (seed % 2 == 0) {
      for (auto& tree : plan.broadcast_trees) tree = runtime::with_direct_copies(tree, hosts);
    }
    OnHosts broadcast(MPI_COMM_WORLD, plan, hosts, static_cast<int>(source));
    for (std::uint64_t message = 0; message < 4; ++message) {
      check_run(broadcast, MPI_COMM_WORLD, random() % (segment * 12), message);
    }
    check_run(broadcast, MPI_COMM_WORLD, kRing + 12'345, 5);
  }
}

TEST(Rings, EveryRootAndSizesAroundCells) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  for (std::uint32_t source = 0; source < ranks; ++source) {
    Broadcast broadcast(MPI_COMM_WORLD, plan_shaped(Shape::kBinary, ranks, source, 2 * kCell));
    for (const std::size_t bytes :
         {0UL, 1UL, kCell - 1, kCell, kCell + 1, 2 * kCell - 1, 2 * kCell, 2 * kCell + 1, kRing}) {
      check_run(broadcast, MPI_COMM_WORLD, bytes, bytes + source);
    }
  }
}

// If one rank has no free file descriptor, no rank uses rings.
TEST(Rings, AreUsedByAllRanksOfAHostOrByNone) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks < 2) GTEST_SKIP() << "there is no other rank";
  runtime::RingPlan plan{0, {}, {0}, 4};
  for (std::uint32_t i = 1; i < ranks; ++i) plan.readers.push_back(static_cast<int>(i));
  runtime::OwnedComm comm(MPI_COMM_WORLD);
  const auto rings = runtime::share_rings(comm.get(), {plan});
  ASSERT_NE(rings, nullptr);
  EXPECT_EQ(rings->memories.size(), 1U);
  EXPECT_TRUE(rings->rings[0].has_value());
  // MPI has already opened its own connections.
  for (const int poor : {0, static_cast<int>(ranks) - 1}) {
    rlimit usual{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
    if (comm.rank() == poor) {
      const rlimit none{0, usual.rlim_max};
      ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    }
    EXPECT_EQ(runtime::share_rings(comm.get(), {plan}), nullptr);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  }
}

// The ring is full before the mismatch is detected.
TEST(Rings, SizesThatDifferAreRefused) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks < 2) GTEST_SKIP() << "there is no other rank";
  for (const std::size_t more : {1UL, 3 * kRing}) {
    auto* const broadcast =
        new Broadcast(MPI_COMM_WORLD, plan_shaped(Shape::kFlat, ranks, 0, 3 * kCell));
    const bool differs = rank_in(MPI_COMM_WORLD) == static_cast<int>(ranks) - 1;
    std::vector<std::byte> buffer(2 * kRing + 100 + (differs ? more : 0));
    EXPECT_THROW(broadcast->run(buffer.data(), buffer.size(), MPI_BYTE), InputError);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Sums in segments smaller and larger than a cell and the ring.
TEST(Rings, OfReductions) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  for (std::uint32_t source = 0; source < ranks; source += 1 + ranks / 2) {
    std::mt19937_64 random(source + 1);
    for (const std::uint64_t segment : {800UL, 3 * kCell + 16, kRing + 8}) {
      const planner::Plan plan = random_plan_from(source, ranks, segment, 16, random);
      for (const bool everywhere : {false, true}) {
        runtime::Reduction reduction(MPI_COMM_WORLD,
                                     everywhere ? allreduce_plan(plan, plan) : reduce_plan(plan));
        for (const std::size_t count : {1UL, segment / 2 + 3, kRing / 8 + 1}) {
          const bool in_place = (count % 2 == 0) != everywhere;
          check_sum(reduction, MPI_COMM_WORLD, count, count,
                    in_place ? InPlace::kYes : InPlace::kNo);
        }
      }
    }
  }
}

TEST(Rings, TransfersAreLogged) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  runtime::TransferLog log(10'000);
  BroadcastOptions options;
  options.transfers = &log;
  Broadcast broadcast(MPI_COMM_WORLD, plan_shaped(Shape::kChain, ranks, 0, 2 * kCell), options);
  check_run(broadcast, MPI_COMM_WORLD, 6 * kCell + 1, 1);
  std::size_t sends = 0;
  std::size_t receives = 0;
  for (const runtime::Transfer& one : log.transfers()) {
    EXPECT_LE(one.begun_s, one.ended_s);
    EXPECT_EQ(one.bytes, one.segment == 3 ? 1U : 2 * kCell);
    EXPECT_TRUE(one.is_send ? rank == 0 : one.peer == 0);
    ++(one.is_send ? sends : receives);
  }
  EXPECT_EQ(sends, rank == 0 ? 4 * (ranks - 1) : 0U);
  EXPECT_EQ(receives, rank == 0 ? 0U : 4U);
}

}  // namespace
}  // namespace espalier::testing::ring_test
