// Collectives give the right result in every mode: every root, sizes around multiples of the
// segment, many trees, windows, buffers, communicators.
#include "runtime/api/collective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "engine/timetable.hpp"
#include "support/errors.hpp"
#include "tests/mpi/collective_cases.hpp"
#include "tests/mpi/refusals.hpp"
#include "tests/support/draws.hpp"

namespace espalier::testing::collective_test {
namespace {

using planner::Operation;
using runtime::Collective;
using runtime::CollectiveOptions;

std::uint32_t ranks_here() {
  return size_of(MPI_COMM_WORLD);
}

// --- all modes ---

Case shaped(std::string name, Shape shape, Operation operation, CollectiveOptions options) {
  return {std::move(name) + name_of(shape), operation, std::move(options),
          [shape](std::uint32_t nodes, std::uint32_t source, std::uint64_t segment) {
            return plan_shaped(shape, nodes, source, segment);
          }};
}

// More trees than most messages have segments.
Case many_trees(std::string name, Operation operation, CollectiveOptions options) {
  return {std::move(name) + "ManyTrees", operation, std::move(options),
          [](std::uint32_t nodes, std::uint32_t source, std::uint64_t segment) {
            std::mt19937_64 random(3);
            std::vector<planner::PlanTree> trees;
            for (int i = 0; i < 100; ++i) trees.push_back(random_tree(nodes, source, 1.0, random));
            return plan_of(nodes, source, trees, segment);
          }};
}

std::vector<Case> broadcasts_by_hand() {
  std::vector<Case> cases;
  CollectiveOptions one_port = as_planned();
  one_port.ports = 1;
  for (const Shape shape : {Shape::kChain, Shape::kFlat, Shape::kBinary}) {
    cases.push_back(shaped("Forwarding", shape, Operation::kBroadcast, as_planned()));
    cases.push_back(shaped("DirectCopies", shape, Operation::kBroadcast, {}));
  }
  cases.push_back(many_trees("Forwarding", Operation::kBroadcast, as_planned()));
  cases.push_back(shaped("OnePort", Shape::kBinary, Operation::kBroadcast, one_port));
  return cases;
}

std::vector<Case> all_by_hand() {
  std::vector<Case> cases = broadcasts_by_hand();
  for (const Operation operation : {Operation::kReduce, Operation::kAllreduce}) {
    const std::string name = operation == Operation::kReduce ? "Reduce" : "Allreduce";
    for (const Shape shape : {Shape::kChain, Shape::kFlat, Shape::kBinary}) {
      cases.push_back(shaped(name, shape, operation, runtime::ReductionOptions()));
    }
    cases.push_back(many_trees(name, operation, runtime::ReductionOptions()));
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(ByHand, Collectives, ::testing::ValuesIn(all_by_hand()), case_name);

TEST_P(Collectives, EveryRootAndSizesAroundSegmentBoundaries) {
  constexpr std::size_t kSegment = 64;
  std::uint64_t message = 0;
  for (std::uint32_t source = 0; source < ranks_here(); ++source) {
    SCOPED_TRACE(source);
    const planner::Plan plan = GetParam().plan(ranks_here(), source, kSegment);
    std::vector<std::size_t> sizes = {
        0, 1, kSegment - 1, kSegment, kSegment + 1, 2 * kSegment, 11 * kSegment, 20 * kSegment + 7};
    if (plan.schedule) {
      std::size_t period = 0;
      for (const std::uint64_t segments : plan.schedule->segments) period += kSegment * segments;
      sizes.insert(sizes.end(), {period - 1, period, period + 1, 4 * period + kSegment + 7});
    }
    Collective collective(MPI_COMM_WORLD, plan, GetParam().options);
    EXPECT_EQ(collective.root(), static_cast<int>(source));
    EXPECT_EQ(collective.operation(), GetParam().operation);
    EXPECT_EQ(collective.node(), "n" + std::to_string(rank_in(MPI_COMM_WORLD)));
    for (const std::size_t size : sizes) check(collective, MPI_COMM_WORLD, size, message++);
  }
}

// With the largest the source sleeps between polls where ranks outnumber the processors.
TEST_P(Collectives, SegmentsBeyondTheEagerLimit) {
  const std::size_t segment = 200'000 / GetParam().unit();
  Case with = GetParam();
  with.options.segment_bytes = segment * with.unit();
  Collective collective = with.on(MPI_COMM_WORLD, ranks_here() / 2, segment);
  for (const std::size_t size : {segment, segment + 1, 12 * segment + 4321}) {
    check(collective, MPI_COMM_WORLD, size, size);
  }
}

TEST_P(Collectives, EveryWindow) {
  struct Window {
    std::size_t sends;
    std::size_t receives;
  };
  for (const auto [sends, receives] :
       {Window{1, 1}, Window{1, 50}, Window{2, 2}, Window{2, 5}, Window{50, 1}, Window{50, 50}}) {
    Case with = GetParam();
    with.options.sends_in_flight = sends;
    with.options.receives_in_flight = receives;
    Collective collective = with.on(MPI_COMM_WORLD, ranks_here() - 1, 100);
    check(collective, MPI_COMM_WORLD, 1033, sends * 100 + receives);
  }
}

// Ranks start and finish at different times; consecutive messages must not mix, and segments of
// others must not pile up at a late rank.
TEST_P(Collectives, ConsecutiveMessagesDoNotMix) {
  std::mt19937 own(static_cast<unsigned>(rank_in(MPI_COMM_WORLD)) + 1);
  for (const bool check_sizes : {true, false}) {
    Case with = GetParam();
    with.options.check_sizes = check_sizes;
    Collective collective = with.on(MPI_COMM_WORLD, 0, 50);
    for (std::uint64_t message = 0; message < 12; ++message) {
      if (own() % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      check(collective, MPI_COMM_WORLD, 37 * (11 * message % 30), message);
    }
  }
}

TEST_P(Collectives, InterleavedWithAnotherPlanOnTheSameCommunicator) {
  Collective one = GetParam().on(MPI_COMM_WORLD, 0, 16);
  Collective other(MPI_COMM_WORLD, plan_shaped(Shape::kBinary, ranks_here(), ranks_here() - 1, 24));
  for (std::uint64_t message = 0; message < 10; ++message) {
    check(one, MPI_COMM_WORLD, 200, message);
    check(other, MPI_COMM_WORLD, 500, message + 100);
  }
}

TEST_P(Collectives, OnPartsOfTheWorldConcurrently) {
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);  // and in reverse
  {
    Collective collective = GetParam().on(half, size_of(half) / 2, 33);
    for (std::uint64_t message = 0; message < 10; ++message) {
      check(collective, half, 100 * message, message + static_cast<std::uint64_t>(rank % 2));
    }
  }
  MPI_Comm_free(&half);
}

TEST_P(Collectives, CanBeMovedAndReportProgressUpToTheWholeMessage) {
  std::vector<std::uint64_t> reported;
  Case with = GetParam();
  with.options.on_progress = [&](std::uint64_t bytes) { reported.push_back(bytes); };
  with.options.segment_bytes = 10 * with.unit();
  Collective first = with.on(MPI_COMM_WORLD, 0, 10);
  Collective collective = std::move(first);
  EXPECT_EQ(collective.segment_bytes(1000, with.unit()), 10 * with.unit());
  if (with.reduces()) {
    check_sum(collective, MPI_COMM_WORLD, 95, 1);
    if (ranks_here() == 1) return;  // one rank uses MPI's own
  } else {
    check_run(collective, MPI_COMM_WORLD, 95, 1);
  }
  ASSERT_EQ(reported.size(), 10U);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_EQ(reported.back(), 95 * with.unit());
}

// --- broadcasts ---

INSTANTIATE_TEST_SUITE_P(ByHand, Broadcasts, ::testing::ValuesIn([] {
                           auto cases = broadcasts_by_hand();
                           cases.pop_back();  // ports need the whole message in memory
                           return cases;
                         }()),
                         case_name);

std::uint64_t least_buffers(const planner::Plan& plan) {
  return plan.schedule ? engine::Slots(plan).buffer_segments() : 2;
}

TEST_P(Broadcasts, StreamThroughSmallAndLargeBuffers) {
  const planner::Plan plan = GetParam().plan(ranks_here(), ranks_here() / 3, 100);
  Collective collective(MPI_COMM_WORLD, plan, GetParam().options);
  auto shape = collective.stream_shape(kAnyMessage, 1 << 20);
  EXPECT_GE(shape.segments_per_tree, least_buffers(plan));
  for (const std::uint64_t more : {0UL, 1UL, 8UL, 1000UL}) {
    shape.segments_per_tree = least_buffers(plan) + more;
    TestStore store(shape, more);
    EXPECT_TRUE(collective.stream(9321, shape, store));
    EXPECT_EQ(store.wrong(), 0U);
    if (rank_in(MPI_COMM_WORLD) != collective.root()) {
      EXPECT_EQ(store.bytes(), 9321U);
    }
  }
  check(collective, MPI_COMM_WORLD, 9321, 1);  // also where rings were abandoned
}

// Stores fail on any ranks, at any time, also on several at once: all ranks learn of it, there is
// no deadlock, and the next message is complete.
TEST_P(Broadcasts, StreamsStopIfAStoreFailsAndThenWorkAgain) {
  std::mt19937_64 random(7);
  const planner::Plan plan = GetParam().plan(ranks_here(), 0, 100);
  Collective collective(MPI_COMM_WORLD, plan, GetParam().options);
  auto shape = collective.stream_shape(kAnyMessage, 1 << 20);
  for (int i = 0; i < 12; ++i) {
    shape.segments_per_tree = i % 3 == 0 ? 500 : least_buffers(plan) + random() % 4;
    const std::uint64_t segments = 1 + random() % 60;
    TestStore store(shape, random());
    const auto first = static_cast<int>(random() % ranks_here());
    const auto second = static_cast<int>(random() % ranks_here());
    const std::uint64_t at = 1 + random() % segments;
    const int rank = rank_in(MPI_COMM_WORLD);
    if (rank == first || (rank == second && i % 2 == 0)) store.fails_at = at;
    EXPECT_FALSE(collective.stream(shape.segment_bytes * segments, shape, store));
    TestStore whole(shape, random());
    EXPECT_TRUE(collective.stream(shape.segment_bytes * segments + 1, shape, whole));
    EXPECT_EQ(store.wrong() + whole.wrong(), 0U);
  }
}

// One segment more, one less, a shorter segment, nothing at all: on the source or on the last rank.
TEST_P(Broadcasts, RefuseSizesThatDifferAmongRanks) {
  if (ranks_here() == 1) GTEST_SKIP() << "one rank agrees with itself";
  int odd_rank = 0;
  for (const std::size_t odd_size : {0UL, 250UL, 299UL, 301UL, 10'000UL}) {
    odd_rank = static_cast<int>(ranks_here()) - 1 - odd_rank;
    Collective collective = GetParam().on(MPI_COMM_WORLD, 0, 100);
    std::vector<std::byte> buffer(10'000);
    const std::size_t bytes = rank_in(MPI_COMM_WORLD) == odd_rank ? odd_size : 300;
    const std::string refusal = refusal_of(collective, buffer, bytes);
    EXPECT_THAT(refusal, ::testing::HasSubstr("disagree on the size"));
    EXPECT_THAT(refusal, ::testing::HasSubstr(std::to_string(bytes) + " bytes on rank"));
    EXPECT_THROW(collective.run(buffer.data(), 10, MPI_BYTE), std::logic_error);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// --- random plans ---

enum class Draw { kManyTrees, kLongLatencies, kDirectCopies, kFewPorts, kReduce, kAllreduce };

class RandomPlans : public ::testing::TestWithParam<std::tuple<Draw, std::uint64_t>> {};

// Segments below and above the eager limit: above it, a send lasts until it has been received. An
// allreduce has different trees up and down.
TEST_P(RandomPlans, Deliver) {
  const auto [draw, seed] = GetParam();
  std::mt19937_64 random(seed + 300 * static_cast<std::uint64_t>(draw));
  const bool reduces = draw == Draw::kReduce || draw == Draw::kAllreduce;
  CollectiveOptions options = draw == Draw::kDirectCopies ? CollectiveOptions{} : as_planned();
  options.sends_in_flight = 1 + random() % 4;
  options.receives_in_flight = 1 + random() % 6;
  if (draw == Draw::kFewPorts) options.ports = 1 + random() % 3;
  if (reduces) options.ports = seed % 3;
  const auto source = static_cast<std::uint32_t>(random() % ranks_here());
  // Windows that depend on the edge and the segment size; trees that end at different times.
  const bool is_long = draw == Draw::kLongLatencies || (reduces && seed % 2 == 0);
  const auto drawn = [&] {
    planner::Plan plan = random_plan_from(source, ranks_here(), 50'000, 12, random);
    return is_long ? over_long_links(std::move(plan), random) : plan;
  };
  planner::Plan plan = drawn();
  if (draw == Draw::kReduce) plan = reduce_plan(std::move(plan));
  if (draw == Draw::kAllreduce) plan = allreduce_plan(std::move(plan), drawn());
  SCOPED_TRACE(planner::to_json(plan));
  for (const std::uint64_t segment : {0UL, 8 + random() % 300, 8 + random() % 20'000}) {
    options.segment_bytes = segment;
    Collective collective(MPI_COMM_WORLD, plan, options);
    for (int i = 0; i < 2; ++i) {
      const std::uint64_t size = random() % (segment == 0 ? 600'000 : segment * 60);
      check(collective, MPI_COMM_WORLD, reduces ? size / sizeof(double) : size, random());
    }
  }
}

// Buffers for a few segments, which are reused.
TEST_P(RandomPlans, Stream) {
  const auto [draw, seed] = GetParam();
  if (draw > Draw::kLongLatencies) GTEST_SKIP() << "streams have one mode";
  std::mt19937_64 random(seed);
  planner::Plan plan = random_plan(ranks_here(), 500, 8, random);
  if (draw == Draw::kLongLatencies) plan = over_long_links(std::move(plan), random);
  Collective collective(MPI_COMM_WORLD, plan, as_planned());
  for (int i = 0; i < 2; ++i) {
    auto shape = collective.stream_shape(kAnyMessage, 1 + random() % 40000);
    if (i % 2 == 0) shape.segments_per_tree = 1 + random() % 4;
    const std::uint64_t bytes = random() % 50000;
    TestStore store(shape, seed);
    EXPECT_TRUE(collective.stream(bytes, shape, store));
    EXPECT_EQ(store.wrong(), 0U);
    if (rank_in(MPI_COMM_WORLD) != collective.root()) {
      EXPECT_EQ(store.bytes(), bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlans,
                         ::testing::Combine(::testing::Values(Draw::kManyTrees,
                                                              Draw::kLongLatencies,
                                                              Draw::kDirectCopies, Draw::kFewPorts,
                                                              Draw::kReduce, Draw::kAllreduce),
                                            ::testing::Range<std::uint64_t>(1, 1 + draws(20))));

// --- communicators and segments ---

TEST(Collective, WithTheRanksReversedOnACommunicatorThatIsFreed) {
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_in(MPI_COMM_WORLD), &reversed);
  MPI_Comm_dup(reversed, &copy);
  std::mt19937_64 random(23);
  auto broadcast =
      runtime::plan_on(reversed, random_plan(size_of(reversed), 64, 3, random), as_planned());
  MPI_Comm_free(&reversed);  // the broadcast has its own copy
  check(broadcast, copy, 4000, 2);
  MPI_Comm_free(&copy);
}

// An index of communicators that MPI uses again when one is freed.
MPI_Fint next_communicator() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const MPI_Fint index = MPI_Comm_c2f(copy);
  MPI_Comm_free(&copy);
  return index;
}

std::ptrdiff_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

TEST(Collective, ThousandsOfPlansLeaveNothingBehind) {
  if (ranks_here() > 2) GTEST_SKIP() << "two ranks are enough";
  const std::uint64_t plans = ranks_here() == 1 ? 5000 : 300;  // ranks wait for one another
  const planner::Plan plan = plan_shaped(Shape::kChain, ranks_here(), 0, 100);
  const auto run = [&](const planner::Plan& one, std::uint64_t message) {
    Collective collective(MPI_COMM_WORLD, one);
    check(collective, MPI_COMM_WORLD, 150, message);
  };
  run(plan, 0);
  const MPI_Fint communicator = next_communicator();
  const std::ptrdiff_t files = open_files();
  for (std::uint64_t i = 0; i < plans; ++i) run(i % 2 == 0 ? plan : reduce_plan(plan), i);
  EXPECT_EQ(next_communicator(), communicator);
  EXPECT_EQ(open_files(), files);
}

// A segment size that exceeds MPI's int counts.
TEST(Collective, ASegmentLargerThanAnyMessage) {
  Collective collective(MPI_COMM_WORLD, plan_shaped(Shape::kFlat, ranks_here(), 0, UINT64_MAX),
                        as_planned());
  EXPECT_EQ(collective.segment_bytes(UINT64_MAX), 1U << 30);
  check(collective, MPI_COMM_WORLD, 12345, 1);
}

TEST(StreamShape, FitsTheBufferForAnyNumberOfTrees) {
  std::mt19937_64 random(1);
  for (const std::size_t trees : {1UL, 2UL, 20UL, 300UL}) {
    std::vector<planner::PlanTree> many;
    for (std::size_t i = 0; i < trees; ++i) {
      many.push_back(random_tree(ranks_here(), 0, 1.0, random));
    }
    const Collective collective(MPI_COMM_WORLD, plan_of(ranks_here(), 0, many, 1 << 20),
                                as_planned());
    constexpr std::uint64_t kBuffer = std::uint64_t{16} << 20;
    const auto shape = collective.stream_shape(kAnyMessage, kBuffer);
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
}  // namespace espalier::testing::collective_test
