// Scatter, gather and alltoall, whose parts go along paths through other ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <functional>
#include <random>
#include <span>
#include <vector>

#include "runtime/api/collective.hpp"
#include "runtime/api/parts.hpp"
#include "support/errors.hpp"
#include "tests/mpi/check_reduction.hpp"
#include "tests/mpi/interesting_counts.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::testing::routing_test {
namespace {

using planner::Operation;
using runtime::Collective;
using ::testing::HasSubstr;

constexpr std::uint64_t kSegment = 96;
using Bytes = std::vector<std::byte>;

int here() {
  return rank_in(MPI_COMM_WORLD);
}
int ranks() {
  return static_cast<int>(size_of(MPI_COMM_WORLD));
}
std::size_t at(int rank) {
  return static_cast<std::size_t>(rank);
}

planner::Plan plan_for(Operation operation, int root = 0, Paths paths = Paths::kTwo,
                       std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  return routes_plan(operation, size_of(MPI_COMM_WORLD), static_cast<std::uint32_t>(root), paths,
                     kSegment, random);
}

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

void check_alltoallv(Collective& collective, const CountOf& count, std::size_t gap,
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

class Routes : public ::testing::TestWithParam<Paths> {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "a plan has parts for others";
  }
};

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

INSTANTIATE_TEST_SUITE_P(Paths, Routes,
                         ::testing::Values(Paths::kDirect, Paths::kThroughAnother, Paths::kTwo,
                                           Paths::kRandom),
                         [](const auto& parameter) { return name_of(parameter.param); });

class Routing : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "a plan has parts for others";
  }
};

TEST_F(Routing, WindowsOfOneSegment) {
  runtime::CollectiveOptions options;
  options.sends_in_flight = options.receives_in_flight = 1;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Collective collective(MPI_COMM_WORLD, plan_for(Operation::kAlltoall, 0, Paths::kRandom, seed),
                          options);
    check_alltoall(collective, 11 * kSegment + 5, seed, InPlace::kNo);
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
class EveryOther {
 public:
  EveryOther() {
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type_);
    MPI_Type_commit(&type_);
  }
  ~EveryOther() { MPI_Type_free(&type_); }
  EveryOther(const EveryOther&) = delete;
  EveryOther& operator=(const EveryOther&) = delete;
  EveryOther(EveryOther&&) = delete;
  EveryOther& operator=(EveryOther&&) = delete;
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

// --- refusals, on all ranks ---

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

class RoutingRefusal : public ::testing::TestWithParam<Operation> {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "a plan has parts for others";
  }
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
  Counts counts(at(ranks()), 3 * kSegment);
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
  options.schedule = false;
  options.ports = 1;
  EXPECT_THAT(refused(options), HasSubstr("ranks that forward parts do not"));
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

TEST_F(Routing, RefusesPartsInPlaceElsewhereThanOnTheRoot) {
  const Counts counts(at(ranks()), 3);
  std::vector<std::byte> memory(at(3 * ranks()));
  Collective scatter(MPI_COMM_WORLD, plan_for(Operation::kScatter));
  EXPECT_THAT(refusal([&] { scatter.scatter(memory.data(), MPI_IN_PLACE, counts, {}, MPI_BYTE); }),
              HasSubstr(here() == 0 ? "another rank refused" : "a rank that is not the root"));
  Collective gather(MPI_COMM_WORLD, plan_for(Operation::kGather));
  EXPECT_THAT(refusal([&] { gather.gather(memory.data(), MPI_IN_PLACE, counts, {}, MPI_BYTE); }),
              HasSubstr(here() == 0 ? "not for the parts of all ranks" : "another rank refused"));
}

TEST_F(Routing, RefusesPartsThatTheReceiverDoesNotExpect) {
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
}  // namespace espalier::testing::routing_test
