// Scatter, gather and alltoall, whose parts go along paths through other ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "runtime/api/collective.hpp"
#include "runtime/api/parts.hpp"
#include "runtime/topology/alltoall_by_leaders.hpp"
#include "support/pinned.hpp"
#include "tests/mpi/check_reduction.hpp"
#include "tests/mpi/interesting_counts.hpp"
#include "tests/mpi/routing_plans.hpp"

namespace espalier::testing::routing_test {
namespace {

using planner::Operation;
using runtime::Collective;

constexpr std::uint64_t kSegment = kRoutedSegment;
using Bytes = std::vector<std::byte>;

// Depends on sender, receiver and position.
std::byte routed_byte(int from, int to, std::size_t position, std::uint64_t message) {
  return byte_of(position, (message * 64 + static_cast<std::uint64_t>(from)) * 64 +
                               static_cast<std::uint64_t>(to));
}

// Where parts begin with `gap` bytes before each.
Counts beginnings(const Counts& counts, std::size_t gap) {
  Counts first(counts.size());
  std::size_t end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    first[i] = end + gap;
    end = first[i] + counts[i];
  }
  return first;
}

// A buffer of such parts, with `fill` between them. byte(rank, position): of a rank's part.
template <class Byte>
Bytes buffer_of(const Counts& counts, const Counts& first, const Byte& byte) {
  Bytes buffer(first.back() + counts.back() + kGuard, kPoison);
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    for (std::size_t i = 0; i < counts[rank]; ++i) {
      buffer[first[rank] + i] = byte(static_cast<int>(rank), i);
    }
  }
  return buffer;
}

std::span<const std::size_t> unless_dense(const Counts& first, std::size_t gap) {
  return gap == 0 ? std::span<const std::size_t>() : std::span(first);
}

Bytes poisoned(std::size_t size) {
  return Bytes(size, kPoison);
}

// gap: bytes before each part in the root's buffer.
void check_scatter(Collective& collective, const Counts& counts, std::size_t gap,
                   std::uint64_t message, InPlace in_place) {
  const int root = collective.root();
  const bool is_root = here() == root;
  const Counts first = beginnings(counts, gap);
  const Bytes all = buffer_of(
      counts, first, [&](int to, std::size_t i) { return routed_byte(root, to, i, message); });
  Bytes expected = poisoned(counts[at(here())] + kGuard);
  for (std::size_t i = 0; i < counts[at(here())]; ++i) {
    expected[i] = routed_byte(root, here(), i, message);
  }
  const bool is_there = is_root && in_place == InPlace::kYes;
  if (is_there) expected = poisoned(expected.size());
  const Bytes sent = is_root ? all : Bytes();
  Bytes received = poisoned(expected.size());
  collective.scatter(sent.data(), is_there ? MPI_IN_PLACE : received.data(), counts,
                     unless_dense(first, gap), MPI_BYTE);
  EXPECT_TRUE(received == expected) << ::testing::PrintToString(counts) << ", root " << root;
  EXPECT_TRUE(!is_root || sent == all) << "sendbuf was written to";
}

void check_gather(Collective& collective, const Counts& counts, std::size_t gap,
                  std::uint64_t message, InPlace in_place) {
  const int root = collective.root();
  const bool is_root = here() == root;
  const Counts first = beginnings(counts, gap);
  const auto byte = [&](int from, std::size_t i) { return routed_byte(from, root, i, message); };
  const Bytes expected = is_root ? buffer_of(counts, first, byte) : Bytes();
  Bytes own(counts[at(here())]);
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = byte(here(), i);
  const bool is_there = is_root && in_place == InPlace::kYes;
  Bytes received = poisoned(expected.size());
  if (is_there) {
    std::ranges::copy(own, received.begin() + static_cast<std::ptrdiff_t>(first[at(root)]));
  }
  collective.gather(is_there ? MPI_IN_PLACE : static_cast<const void*>(own.data()), received.data(),
                    counts, unless_dense(first, gap), MPI_BYTE);
  EXPECT_TRUE(received == expected) << ::testing::PrintToString(counts) << ", root " << root;
}

using CountOf = std::function<std::size_t(int from, int to)>;

// Runner: a Collective, or ByLeaders.
template <class Runner>
void check_alltoallv(Runner& collective, const CountOf& count, std::size_t gap,
                     std::uint64_t message, InPlace in_place) {
  Counts sent_counts;
  Counts received_counts;
  for (int other = 0; other < ranks(); ++other) {
    sent_counts.push_back(count(here(), other));
    received_counts.push_back(count(other, here()));
  }
  const Counts sent_first = beginnings(sent_counts, gap);
  const Counts received_first = beginnings(received_counts, 2 * gap);
  const auto outgoing = [&](int to, std::size_t i) { return routed_byte(here(), to, i, message); };
  const Bytes sent = buffer_of(sent_counts, sent_first, outgoing);
  const Bytes expected = buffer_of(received_counts, received_first, [&](int from, std::size_t i) {
    return routed_byte(from, here(), i, message);
  });
  const bool is_there = in_place == InPlace::kYes;
  Bytes received =
      is_there ? buffer_of(received_counts, received_first, outgoing) : poisoned(expected.size());
  collective.alltoallv(is_there ? MPI_IN_PLACE : static_cast<const void*>(sent.data()),
                       is_there ? Counts() : sent_counts, unless_dense(sent_first, gap),
                       received.data(), received_counts, unless_dense(received_first, gap),
                       MPI_BYTE);
  EXPECT_TRUE(received == expected) << ::testing::PrintToString(received_counts) << ", gap " << gap;
}

void check_alltoall(Collective& collective, std::size_t count, std::uint64_t message,
                    InPlace in_place) {
  const Counts counts(at(ranks()), count);
  const Counts first = beginnings(counts, 0);
  const auto outgoing = [&](int to, std::size_t i) { return routed_byte(here(), to, i, message); };
  const Bytes sent = buffer_of(counts, first, outgoing);
  const Bytes expected = buffer_of(counts, first, [&](int from, std::size_t i) {
    return routed_byte(from, here(), i, message);
  });
  const bool is_there = in_place == InPlace::kYes;
  Bytes received = is_there ? sent : poisoned(expected.size());
  collective.alltoall(is_there ? MPI_IN_PLACE : static_cast<const void*>(sent.data()),
                      received.data(), count, MPI_BYTE);
  EXPECT_TRUE(received == expected) << count << " each";
}

using Routes = AmongRanks<::testing::TestWithParam<Paths>>;

TEST_P(Routes, ScatterFromEveryRoot) {
  std::uint64_t message = 0;
  for (int root = 0; root < ranks(); ++root) {
    Collective collective(MPI_COMM_WORLD, plan_for(Operation::kScatter, root, GetParam()));
    EXPECT_EQ(collective.root(), root);
    for (const Counts& counts : interesting_counts(kSegment)) {
      check_scatter(collective, counts, 0, ++message, InPlace::kNo);
      check_scatter(collective, counts, 5, ++message, InPlace::kYes);
    }
  }
}

TEST_P(Routes, GatherToEveryRoot) {
  std::uint64_t message = 0;
  for (int root = 0; root < ranks(); ++root) {
    Collective collective(MPI_COMM_WORLD, plan_for(Operation::kGather, root, GetParam()));
    EXPECT_EQ(collective.root(), root);
    for (const Counts& counts : interesting_counts(kSegment)) {
      check_gather(collective, counts, 0, ++message, InPlace::kNo);
      check_gather(collective, counts, 5, ++message, InPlace::kYes);
    }
  }
}

TEST_P(Routes, AlltoallOfEqualParts) {
  std::uint64_t message = 0;
  Collective collective(MPI_COMM_WORLD, plan_for(Operation::kAlltoall, 0, GetParam()));
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, kSegment - 1, kSegment, kSegment + 1, 5 * kSegment + 3}) {
    check_alltoall(collective, count, ++message, InPlace::kNo);
    check_alltoall(collective, count, ++message, InPlace::kYes);
  }
}

TEST_P(Routes, AlltoallOfUnequalParts) {
  Collective collective(MPI_COMM_WORLD, plan_for(Operation::kAlltoall, 0, GetParam()));
  const CountOf unlike = [](int from, int to) { return at(from * 7 + to * 13) * 17 % 331; };
  const CountOf alike = [](int from, int to) { return at((from + to) * 37 % 5) * 60; };
  const CountOf to_the_last = [](int, int to) { return to == ranks() - 1 ? at(700) : at(0); };
  const CountOf nothing = [](int, int) { return std::size_t{0}; };
  check_alltoallv(collective, unlike, 0, 1, InPlace::kNo);
  check_alltoallv(collective, unlike, 3, 2, InPlace::kNo);
  check_alltoallv(collective, alike, 0, 3, InPlace::kYes);
  check_alltoallv(collective, alike, 3, 4, InPlace::kYes);
  check_alltoallv(collective, to_the_last, 0, 5, InPlace::kNo);
  check_alltoallv(collective, nothing, 0, 6, InPlace::kNo);
}

struct ByLeaders {
  runtime::AlltoallByLeaders leaders;
  runtime::AlltoallByLeaders::Way way;

  void alltoallv(const void* sent, std::span<const std::size_t> sent_counts,
                 std::span<const std::size_t> sent_first, void* received,
                 std::span<const std::size_t> received_counts,
                 std::span<const std::size_t> received_first, MPI_Datatype /*type*/) const {
    leaders.run(way, {static_cast<const std::byte*>(sent), sent_counts, sent_first},
                {static_cast<std::byte*>(received), received_counts, received_first});
  }
};

// The hosts are made up: all ranks on one, each on its own, two and three in turns, and two after
// one another, of which the higher number comes first.
TEST(AlltoallByLeaders, AmongAnyHosts) {
  const CountOf unlike = [](int from, int to) { return at(from * 7 + to * 13) * 17 % 331; };
  const CountOf equal = [](int, int) { return std::size_t{5}; };
  const CountOf to_the_last = [](int, int to) { return to == ranks() - 1 ? at(700) : at(0); };
  const CountOf nothing = [](int, int) { return std::size_t{0}; };
  const std::function<int(int)> hosts[] = {
      [](int) { return 3; }, [](int rank) { return rank; }, [](int rank) { return rank % 2; },
      [](int rank) { return rank % 3; }, [](int rank) { return rank < ranks() / 2 ? 1 : 0; }};
  using Way = runtime::AlltoallByLeaders::Way;
  std::uint64_t message = 0;
  for (const auto& host_of : hosts) {
    std::vector<int> host_of_rank;
    for (int rank = 0; rank < ranks(); ++rank) host_of_rank.push_back(host_of(rank));
    for (const Way way : {Way::kOneAlltoallv, Way::kGathervs}) {
      ByLeaders by{{MPI_COMM_WORLD, host_of_rank}, way};
      for (const CountOf& count : {unlike, equal, to_the_last, nothing}) {
        check_alltoallv(by, count, 0, ++message, InPlace::kNo);
        check_alltoallv(by, count, 3, ++message, InPlace::kNo);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, Routes,
                         ::testing::Values(Paths::kDirect, Paths::kThroughAnother, Paths::kTwo,
                                           Paths::kRandom),
                         [](const auto& parameter) { return name_of(parameter.param); });

using Routing = AmongRanks<::testing::Test>;

TEST_F(Routing, WindowsOfOneSegment) {
  runtime::CollectiveOptions options;
  options.sends_in_flight = options.receives_in_flight = 1;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Collective collective(MPI_COMM_WORLD, plan_for(Operation::kAlltoall, 0, Paths::kRandom, seed),
                          options);
    check_alltoall(collective, 11 * kSegment + 5, seed, InPlace::kNo);
  }
}

TEST_F(Routing, FewSendsAtATime) {
  runtime::CollectiveOptions options;
  for (const std::uint64_t seed : {1, 2, 3}) {
    options.ports = seed;
    Collective collective(MPI_COMM_WORLD, plan_for(Operation::kAlltoall, 0, Paths::kRandom, seed),
                          options);
    check_alltoall(collective, 11 * kSegment + 5, seed, InPlace::kNo);
    check_alltoall(collective, kSegment - 1, seed, InPlace::kNo);
  }
}

TEST_F(Routing, RanksInAnyOrderOfNodes) {
  planner::Plan plan = plan_for(Operation::kAlltoall);
  plan.blocks.pop_back();  // shares differ
  const Collective collective(MPI_COMM_WORLD, plan);
  const std::vector<double> shares = collective.shares();
  ASSERT_EQ(shares.size(), at(ranks()) * at(ranks()));
  const planner::PlanBlock& block = plan.blocks.front();
  EXPECT_EQ(shares[block.root * at(ranks()) + *block.to], block.share);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), ranks(), 1e-9);
}

// Of two ints, the first.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class EveryOther : public Pinned {
 public:
  EveryOther() {
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type_);
    MPI_Type_commit(&type_);
  }
  ~EveryOther() { MPI_Type_free(&type_); }
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

constexpr std::size_t kElements = 101;
constexpr int kHole = -2;

int value_of(int from, int to, std::size_t i) {
  return (from * 64 + to) * 1000 + static_cast<int>(i);
}
// Parts of kElements elements each. value(part, position).
template <class Value>
std::vector<int> with_holes(int parts, const Value& value) {
  std::vector<int> all(2 * kElements * at(parts), kHole);
  for (std::size_t i = 0; i < all.size(); i += 2) {
    all[i] = value(static_cast<int>(i / 2 / kElements), i / 2 % kElements);
  }
  return all;
}

TEST_F(Routing, ScatterAndGatherElementsWithHoles) {
  const EveryOther every_other;
  const int root = ranks() - 1;
  const Counts counts(at(ranks()), kElements);
  Collective scatter(MPI_COMM_WORLD, plan_for(Operation::kScatter, root));
  Collective gather(MPI_COMM_WORLD, plan_for(Operation::kGather, root));
  const auto from_root = [&](int to, std::size_t i) { return value_of(root, to, i); };
  const auto own = [&](int, std::size_t i) { return from_root(here(), i); };
  const auto nothing = [](int, std::size_t) { return kHole; };
  const std::vector<int> all = with_holes(ranks(), from_root);
  for (const bool in_place : {false, true}) {
    const bool is_there = in_place && here() == root;
    std::vector<int> part = with_holes(1, nothing);
    scatter.scatter(all.data(), is_there ? MPI_IN_PLACE : part.data(), counts, {},
                    every_other.get());
    EXPECT_TRUE(is_there || part == with_holes(1, own));

    std::vector<int> gathered = with_holes(ranks(), [&](int from, std::size_t i) {
      return is_there && from == root ? from_root(root, i) : kHole;
    });
    const std::vector<int> mine = with_holes(1, own);
    gather.gather(is_there ? MPI_IN_PLACE : static_cast<const void*>(mine.data()), gathered.data(),
                  counts, {}, every_other.get());
    EXPECT_TRUE(here() != root || gathered == all);
  }
}

TEST_F(Routing, AlltoallOfElementsWithHoles) {
  const EveryOther every_other;
  Collective collective(MPI_COMM_WORLD, plan_for(Operation::kAlltoall));
  const auto outgoing = [](int to, std::size_t i) { return value_of(here(), to, i); };
  const auto incoming = [](int from, std::size_t i) { return value_of(from, here(), i); };
  const std::vector<int> sent = with_holes(ranks(), outgoing);
  for (const bool in_place : {false, true}) {
    std::vector<int> received =
        in_place ? sent : with_holes(ranks(), [](int, std::size_t) { return kHole; });
    collective.alltoall(in_place ? MPI_IN_PLACE : static_cast<const void*>(sent.data()),
                        received.data(), kElements, every_other.get());
    EXPECT_TRUE(received == with_holes(ranks(), incoming));
  }
}

}  // namespace
}  // namespace espalier::testing::routing_test
