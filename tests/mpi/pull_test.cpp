// Broadcasts without a plan: every size, source and type; every byte is checked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "engine/pull/traffic.hpp"
#include "runtime/pull/pull_among_hosts.hpp"
#include "runtime/pull/pull_collective.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "support/errors.hpp"
#include "tests/mpi/check_allgather.hpp"
#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::testing::pull_mpi_test {
namespace {

using runtime::PullCollective;
using ::testing::HasSubstr;
using std::chrono_literals::operator""ms;

constexpr std::uint64_t kSegment = 1000;

// A pull from one rank, with the functions that check_run needs.
template <class Broadcast>
struct From {
  Broadcast* broadcast;
  int source;
  [[nodiscard]] int root() const { return source; }
  void run(void* buffer, std::size_t count, MPI_Datatype type) const {
    broadcast->broadcast(buffer, count, type, source);
  }
};

TEST(Pull, BringsEveryByteOfEverySizeFromEverySource) {
  PullCollective broadcast(MPI_COMM_WORLD, {.segment_bytes = kSegment});
  const int ranks = static_cast<int>(size_of(MPI_COMM_WORLD));
  std::uint64_t message = 1;
  for (const int source : {0, ranks / 2, ranks - 1}) {
    From from{&broadcast, source};
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kSegment - 1, kSegment,
                                    kSegment + 1, 64 * kSegment, 200 * kSegment + 77}) {
      check_run(from, MPI_COMM_WORLD, bytes, message++);
    }
  }
}

// By rank, its host: ranks in pairs, or in turns, on hosts; and all on one.
std::array<std::vector<int>, 3> placements() {
  std::array<std::vector<int>, 3> hosts;
  const int ranks = static_cast<int>(size_of(MPI_COMM_WORLD));
  for (int rank = 0; rank < ranks; ++rank) {
    hosts[0].push_back(rank / 2 * 2);
    hosts[1].push_back(rank % 3);
    hosts[2].push_back(0);
  }
  return hosts;
}

TEST(Pull, CrossesTheNetworkOnceForEachHost) {
  const int ranks = static_cast<int>(size_of(MPI_COMM_WORLD));
  std::uint64_t message = 1;
  for (const std::vector<int>& hosts : placements()) {
    runtime::PullAmongHosts broadcast(MPI_COMM_WORLD, hosts, {.segment_bytes = kSegment});
    for (int source = 0; source < ranks; ++source) {
      From from{&broadcast, source};
      check_run(from, MPI_COMM_WORLD, 20 * kSegment + 7, message++);
    }
    const auto traffic = broadcast.gather_traffic();
    const std::size_t of_hosts = std::set(hosts.begin(), hosts.end()).size();
    EXPECT_EQ(traffic.size(), rank_in(MPI_COMM_WORLD) == 0 ? of_hosts : 0U);
  }
}

// The timeout is for times without progress, of which only those know that pull; here they take
// their time before they begin.
TEST(Pull, LetsRanksWaitForTheOneThatPullsAsLongAsItTakes) {
  if (size_of(MPI_COMM_WORLD) != 4) GTEST_SKIP() << "takes seconds; once is enough";
  const std::vector<int> hosts{0, 0, 2, 2};
  runtime::PullAmongHosts broadcast(MPI_COMM_WORLD, hosts,
                                    {.segment_bytes = kSegment, .timeout = Seconds{2}});
  From from{&broadcast, 0};
  if (rank_in(MPI_COMM_WORLD) % 2 == 0) std::this_thread::sleep_for(2500ms);
  check_run(from, MPI_COMM_WORLD, 40 * kSegment, 1);
}

TEST(Pull, ChoosesSegments) {
  PullCollective broadcast(MPI_COMM_WORLD);
  From from{&broadcast, 0};
  check_run(from, MPI_COMM_WORLD, 3'000'017, 1);
  EXPECT_EQ(broadcast.segment_bytes(10), 10U);  // at most the message
  for (const std::uint64_t mebibytes : {1U, 8U, 64U, 256U, 1024U, 1U << 20U}) {
    const std::uint64_t message = std::uint64_t{mebibytes} << 20U;
    const std::uint64_t count = message / broadcast.segment_bytes(message);
    EXPECT_LE(count, 16'384U) << mebibytes << " MiB";
    EXPECT_GE(count, 128U) << mebibytes << " MiB";
  }
  // So short that MPI sends them eagerly, where that gives a sensible number.
  EXPECT_EQ(broadcast.segment_bytes(std::uint64_t{64} << 20U), runtime::kEagerOverTcp.value);
}

TEST(Pull, BringsEveryPartOfAnAllgatherToEveryRank) {
  PullCollective pull(MPI_COMM_WORLD, {.segment_bytes = kSegment});
  std::uint64_t message = 0;
  for (const Counts& counts : interesting_counts(kSegment)) {
    check_allgather(pull, counts, 0, ++message, InPlace::kNo);
    check_allgather(pull, counts, 5, ++message, InPlace::kYes);
  }
  check_allgather_with_holes(pull);
  const auto traffic = pull.gather_traffic();
  EXPECT_EQ(traffic.size(), rank_in(MPI_COMM_WORLD) == 0 ? size_of(MPI_COMM_WORLD) : 0U);
}

TEST(Pull, BringsPartsToRanksThatShareHosts) {
  const auto ranks = size_of(MPI_COMM_WORLD);
  std::uint64_t message = 0;
  for (const std::vector<int>& hosts : placements()) {
    runtime::PullAmongHosts pull(MPI_COMM_WORLD, hosts, {.segment_bytes = kSegment});
    Counts counts(ranks, 5 * kSegment + 3);
    check_allgather(pull, counts, 0, ++message, InPlace::kNo);
    counts[ranks / 2] = 0;
    check_allgather(pull, counts, 0, ++message, InPlace::kYes);
    check_allgather(pull, counts, 7, ++message, InPlace::kNo);
    check_allgather_with_holes(pull);
  }
}

TEST(Pull, RefusesPartsOnWhichRanksDisagree) {
  const auto ranks = size_of(MPI_COMM_WORLD);
  PullCollective pull(MPI_COMM_WORLD, {.segment_bytes = kSegment});
  std::vector<std::byte> memory(100 * (ranks + 1));
  const auto refused = [&](const Counts& counts, MPI_Datatype type) {
    return espalier::testing::refusal(
        [&] { pull.allgather(MPI_IN_PLACE, memory.data(), counts, {}, type); });
  };
  EXPECT_THAT(refused(Counts(ranks + 1, 1), MPI_BYTE), HasSubstr("parts for"));
  EXPECT_THAT(refused(Counts(ranks, 1), MPI_DATATYPE_NULL), HasSubstr("is not a type"));
  if (ranks > 1) {
    Counts counts(ranks, 50);
    ++counts[rank_in(MPI_COMM_WORLD) == 0 ? 0 : 1];
    EXPECT_THAT(refused(counts, MPI_BYTE), HasSubstr("disagree on the sizes of their parts"));
  }
  check_allgather(pull, Counts(ranks, kSegment + 1), 0, 1, InPlace::kNo);
}

// Every second int of the buffer.
TEST(Pull, LeavesHolesAlone) {
  constexpr int kCount = 5000;
  MPI_Datatype with_hole = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &with_hole);
  MPI_Type_commit(&with_hole);
  const bool is_source = rank_in(MPI_COMM_WORLD) == 0;
  std::vector<int> buffer(std::size_t{2} * kCount, -1);
  for (int i = 0; is_source && i < kCount; ++i) buffer[2 * static_cast<std::size_t>(i)] = 7 * i;
  PullCollective broadcast(MPI_COMM_WORLD, {.segment_bytes = 999});
  broadcast.broadcast(buffer.data(), kCount, with_hole, 0);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    const auto at = 2 * static_cast<std::size_t>(i);
    wrong += buffer[at] != 7 * i || buffer[at + 1] != -1 ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
  MPI_Type_free(&with_hole);
}

// Two broadcasts in turns do not see each other's messages.
TEST(Pull, RunsBesideAnotherPull) {
  PullCollective one(MPI_COMM_WORLD, {.segment_bytes = 100});
  PullCollective other(MPI_COMM_WORLD, {.segment_bytes = 70});
  From from_one{&one, 0};
  From from_other{&other, static_cast<int>(size_of(MPI_COMM_WORLD)) - 1};
  for (std::uint64_t message = 1; message < 6; ++message) {
    check_run(from_one, MPI_COMM_WORLD, 5000, message);
    check_run(from_other, MPI_COMM_WORLD, 7001, message + 10);
  }
}

TEST(Pull, ReportsProgressUpToTheWholeMessage) {
  std::uint64_t last = 0;
  bool has_fallen = false;
  PullCollective broadcast(MPI_COMM_WORLD,
                           {.segment_bytes = 100, .on_progress = [&](std::uint64_t bytes) {
                              has_fallen = has_fallen || bytes < last;
                              last = bytes;
                            }});
  From from{&broadcast, 0};
  check_run(from, MPI_COMM_WORLD, 4321, 1);
  if (size_of(MPI_COMM_WORLD) > 1) {
    EXPECT_EQ(last, 4321U);
  }
  EXPECT_FALSE(has_fallen);
}

// The refusal of a call. All ranks are refused alike.
std::string refusal(PullCollective& broadcast, std::size_t count, MPI_Datatype type, int source) {
  std::vector<std::byte> buffer(1000);
  return espalier::testing::refusal(
      [&] { broadcast.broadcast(buffer.data(), count, type, source); });
}

TEST(Pull, RefusesOnAllRanksAndRunsAgain) {
  PullCollective broadcast(MPI_COMM_WORLD, {.segment_bytes = 64});
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = static_cast<int>(size_of(MPI_COMM_WORLD));
  EXPECT_THAT(refusal(broadcast, 10, MPI_BYTE, ranks), HasSubstr("there is no rank"));
  EXPECT_THAT(refusal(broadcast, 10, MPI_BYTE, -1), HasSubstr("there is no rank -1"));
  EXPECT_THAT(refusal(broadcast, 10, rank == 0 ? MPI_DATATYPE_NULL : MPI_BYTE, 0),
              HasSubstr("MPI_DATATYPE_NULL is not a type"));
  EXPECT_THAT(refusal(broadcast, SIZE_MAX / 2, MPI_DOUBLE, 0), HasSubstr("address space"));
  if (ranks > 1) {
    EXPECT_THAT(refusal(broadcast, rank == 0 ? 10 : 11, MPI_BYTE, 0),
                HasSubstr("disagree on the size of the message or on its source"));
    EXPECT_THAT(refusal(broadcast, 10, MPI_BYTE, rank == 0 ? 0 : 1), HasSubstr("disagree"));
  }
  From from{&broadcast, 0};
  check_run(from, MPI_COMM_WORLD, 1000, 3);
  EXPECT_THROW(PullCollective(MPI_COMM_WORLD, {.segment_bytes = (1ULL << 30U) + 1}), InputError);
  if (ranks > 1) {
    EXPECT_THROW(PullCollective(MPI_COMM_WORLD, {.segment_bytes = rank == 0 ? 1U : 2U}),
                 InputError);
  }
}

}  // namespace
}  // namespace espalier::testing::pull_mpi_test
