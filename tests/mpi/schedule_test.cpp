// Broadcasts by the plan's periodic schedule: the message is delivered with any schedule, and the
// schedule's order is kept. MPI's profiling interface records the engine's MPI calls.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "planner/registry.hpp"
#include "planner/schedule/make_schedule.hpp"
#include "planner/solve/make_plan.hpp"
#include "runtime/api/broadcast.hpp"
#include "runtime/engine/timetable.hpp"
#include "runtime/engine/tree_role.hpp"
#include "support/errors.hpp"
#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/mpi/recorded_calls.hpp"
#include "tests/mpi/refusals.hpp"
#include "tests/mpi/schedules.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::testing::schedule_test {
namespace {

using runtime::Broadcast;
using runtime::BroadcastOptions;
using ::testing::HasSubstr;

constexpr std::size_t kSegment = 64;

BroadcastOptions by_schedule() {
  BroadcastOptions options;
  options.schedule = true;
  return options;
}

// A plan as `espalier plan --schedule` makes it, on a complete graph of links whose bandwidths
// differ by a factor of up to 10.
planner::Plan planned(std::uint32_t nodes, std::uint32_t source, std::uint64_t segment,
                      std::uint64_t seed) {
  if (nodes == 1) {
    const planner::PlanTree tree = tree_shaped(Shape::kChain, 1, 0);
    planner::Plan plan = plan_of(1, 0, {tree, tree}, segment);
    plan.schedule = planner::PlanSchedule{{1}, {2 * static_cast<double>(segment)}, {1, 1}, {}};
    return plan;
  }
  std::mt19937_64 random(seed);
  std::vector<std::string> names;
  std::vector<Link> links;
  for (std::uint32_t i = 0; i < nodes; ++i) names.push_back(fmt::format("n{}", i));
  for (const std::string& from : names) {
    for (const std::string& to : names) {
      if (from != to) links.push_back({from, to, 1e-9 * static_cast<double>(10 + random() % 90)});
    }
  }
  const auto platform = small_platform(names, links);
  const planner::Instance instance = instance_of(platform, names[source]);
  planner::Plan plan =
      planner::make_plan(instance, "optimal", run("optimal", instance), Bytes{segment});
  plan.schedule = planner::make_schedule(instance, plan, {0.05});
  return plan;
}

planner::Plan planned_here(std::uint32_t source, std::uint64_t segment) {
  return planned(size_of(MPI_COMM_WORLD), source, segment, 1);
}

std::vector<int> by_order(std::uint32_t ranks) {
  std::vector<int> rank_of_node(ranks);
  std::iota(rank_of_node.begin(), rank_of_node.end(), 0);
  return rank_of_node;
}

TEST(Schedule, EveryRootAndSizesAroundSegmentBoundaries) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  std::uint64_t message = 0;
  for (std::uint32_t source = 0; source < ranks; ++source) {
    SCOPED_TRACE(source);
    const planner::Plan plan = planned(ranks, source, kSegment, source);
    const std::size_t period = kSegment * std::accumulate(plan.schedule->segments.begin(),
                                                          plan.schedule->segments.end(), 0UL);
    Broadcast broadcast(MPI_COMM_WORLD, plan, by_schedule());
    EXPECT_EQ(broadcast.root(), static_cast<int>(source));
    for (const std::size_t bytes : {0UL, 1UL, kSegment - 1, kSegment, kSegment + 1, 3 * kSegment,
                                    period - 1, period, period + 1, 4 * period + kSegment + 7}) {
      check_run(broadcast, MPI_COMM_WORLD, bytes, message++);
    }
  }
}

TEST(Schedule, SegmentsBeyondTheEagerLimit) {
  constexpr std::size_t kLarge = 200'000;
  Broadcast broadcast(MPI_COMM_WORLD, planned_here(size_of(MPI_COMM_WORLD) / 2, kLarge),
                      by_schedule());
  for (const std::size_t bytes : {kLarge, kLarge + 1, 32 * kLarge + 4321}) {
    check_run(broadcast, MPI_COMM_WORLD, bytes, bytes);
  }
}

TEST(Schedule, EveryWindowAndSegmentsOfAnySize) {
  const planner::Plan plan = planned_here(size_of(MPI_COMM_WORLD) - 1, 100);
  for (const std::size_t sends : {1UL, 3UL, 50UL}) {
    for (const std::size_t receives : {1UL, 2UL, 50UL}) {
      BroadcastOptions options = by_schedule();
      options.sends_in_flight = sends;
      options.receives_in_flight = receives;
      options.segment_bytes = sends * receives + 1;
      Broadcast broadcast(MPI_COMM_WORLD, plan, options);
      EXPECT_EQ(broadcast.segment_bytes(7777), options.segment_bytes);
      check_run(broadcast, MPI_COMM_WORLD, 7777, sends * 100 + receives);
    }
  }
}

// Random schedules, also such as one-port hosts could not keep; the ranks follow only their order.
TEST(Schedule, OfAnyKind) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank sends nothing";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    planner::Plan plan = random_plan(ranks, kSegment, 5, random);
    plan.schedule = random_schedule(plan, random);
    Broadcast broadcast(MPI_COMM_WORLD, plan, by_schedule());
    for (const std::size_t segments : {1UL, 5UL, 80UL}) {
      check_run(broadcast, MPI_COMM_WORLD, segments * kSegment - seed, seed);
    }
  }
}

// The ranks of each half, in reverse order.
TEST(Schedule, OnPartsOfTheRanks) {
  const int ranks = static_cast<int>(size_of(MPI_COMM_WORLD));
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2 ? 0 : 1, -rank, &part);
  {
    const std::uint32_t size = size_of(part);
    Broadcast broadcast(part, planned(size, size / 2, kSegment, 5), by_schedule());
    for (const std::size_t bytes : {0UL, 5UL, 40 * kSegment + 3}) {
      check_run(broadcast, part, bytes, bytes);
    }
  }
  MPI_Comm_free(&part);
}

TEST(Schedule, OfTypesWithHoles) {
  constexpr int kCount = 500;
  MPI_Datatype pairs = MPI_DATATYPE_NULL;  // two ints out of three
  MPI_Datatype spaced = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_create_resized(pairs, 0, 3 * sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  Broadcast broadcast(MPI_COMM_WORLD, planned_here(0, kSegment + 1), by_schedule());
  std::vector<int> data(3 * kCount, -1);
  for (int i = 0; i < 3 * kCount && rank_in(MPI_COMM_WORLD) == 0; ++i) {
    data[static_cast<std::size_t>(i)] = i * 7919;
  }
  broadcast.run(data.data(), kCount, spaced);
  for (int i = 0; i < 3 * kCount && rank_in(MPI_COMM_WORLD) != 0; ++i) {
    EXPECT_EQ(data[static_cast<std::size_t>(i)], i % 3 == 2 ? -1 : i * 7919) << i;
  }
  MPI_Type_free(&spaced);
  MPI_Type_free(&pairs);
}

// --- streams with a limited buffer ---

std::uint64_t buffer_of(const planner::Plan& plan) {
  return runtime::Slots(plan).buffer_segments();
}

TEST(Schedule, StreamsThroughSmallAndLargeBuffers) {
  const planner::Plan plan = planned_here(size_of(MPI_COMM_WORLD) / 3, 100);
  Broadcast broadcast(MPI_COMM_WORLD, plan, by_schedule());
  auto shape = broadcast.stream_shape(kAnyMessage, 1 << 20);
  EXPECT_GE(shape.segments_per_tree, buffer_of(plan));
  for (const std::uint64_t more : {0UL, 1UL, 3UL, 1000UL}) {
    shape.segments_per_tree = buffer_of(plan) + more;
    TestStore store(shape, more);
    EXPECT_TRUE(broadcast.stream(9321, shape, store));
    EXPECT_EQ(store.wrong(), 0U);
    if (rank_in(MPI_COMM_WORLD) != broadcast.root()) {
      EXPECT_EQ(store.bytes(), 9321U);
    }
  }
}

TEST(Schedule, NeedsABufferForDelayedSegments) {
  const planner::Plan plan = planned_here(0, 100);
  Broadcast broadcast(MPI_COMM_WORLD, plan, by_schedule());
  auto shape = broadcast.stream_shape(kAnyMessage, 1 << 20);
  shape.segments_per_tree = buffer_of(plan) - 1;
  TestStore store(shape, 1);
  try {
    (void)broadcast.stream(1000, shape, store);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(),
              fmt::format("the schedule needs buffers for {} segments of each tree, not {}",
                          buffer_of(plan), buffer_of(plan) - 1));
  }
}

TEST(Schedule, StopsIfAStoreFailsAndThenWorksAgain) {
  std::mt19937_64 random(7);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const planner::Plan plan = planned_here(0, 100);
  Broadcast broadcast(MPI_COMM_WORLD, plan, by_schedule());
  auto shape = broadcast.stream_shape(kAnyMessage, 1 << 20);
  for (int i = 0; i < 12; ++i) {
    shape.segments_per_tree = i % 3 == 0 ? 500 : buffer_of(plan) + random() % 4;
    const std::uint64_t segments = 1 + random() % 60;
    TestStore store(shape, random());
    const auto failing = static_cast<int>(random() % ranks);
    const std::uint64_t at = 1 + random() % segments;
    if (rank_in(MPI_COMM_WORLD) == failing) store.fails_at = at;
    EXPECT_FALSE(broadcast.stream(shape.segment_bytes * segments, shape, store));
    TestStore whole(shape, random());
    EXPECT_TRUE(broadcast.stream(shape.segment_bytes * segments + 1, shape, whole));
    EXPECT_EQ(store.wrong() + whole.wrong(), 0U);
  }
}

// --- the MPI calls and their order ---

// The calls that the schedule requires of this rank: its sends or its receives.
std::vector<Call> due(runtime::SlotOrder order, bool are_sends,
                      std::span<const runtime::TreeRole> roles,
                      const std::vector<std::uint64_t>& ends) {
  std::size_t left = 0;
  for (std::size_t tree = 0; tree < roles.size(); ++tree) {
    const std::size_t peers =
        are_sends ? roles[tree].children.size() : (roles[tree].parent == runtime::kNoRank ? 0 : 1);
    left += ends[tree] * peers;
  }
  std::vector<Call> in_order;
  for (; left > 0; --left, order.pass()) {
    const auto edge = order.next([&](std::uint32_t tree) { return ends[tree]; });
    const auto& role = roles[edge.tree];
    in_order.push_back({are_sends, static_cast<int>(edge.tree),
                        are_sends ? role.children[edge.child] : role.parent});
  }
  return in_order;
}

TEST(Schedule, IsKept) {
  constexpr std::size_t kSegments = 100;
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const auto rank_of_node = by_order(ranks);
  for (std::uint32_t source = 0; source < ranks; source += 3) {
    const planner::Plan plan = planned_here(source, kSegment);
    const runtime::Slots slots(plan);
    Broadcast broadcast(MPI_COMM_WORLD, plan, by_schedule());
    calls.clear();
    recording = Recording::kIssend;
    const std::size_t bytes = kSegments * broadcast.segment_bytes(kSegments * kSegment);
    check_run(broadcast, MPI_COMM_WORLD, bytes, 1);
    recording = Recording::kOff;
    const auto roles =
        runtime::roles_of(plan.broadcast_trees, rank_of_node, rank_in(MPI_COMM_WORLD));
    const auto table = slots.of_rank(rank_of_node, rank_in(MPI_COMM_WORLD), roles);
    std::vector<std::uint64_t> ends;
    for (std::size_t tree = 0; tree < roles.size(); ++tree) {
      ends.push_back(slots.assignment().count(tree, kSegments));
    }
    for (const bool sends : {true, false}) {
      std::vector<Call> made;
      std::ranges::copy_if(calls, std::back_inserter(made),
                           [&](const Call& call) { return call.is_send == sends; });
      EXPECT_EQ(made, due(sends ? table.sends : table.receives, sends, roles, ends)) << sends;
    }
  }
}

// --- refusals ---

TEST(Schedule, IsRefusedIfThePlanHasNone) {
  planner::Plan plan = planned_here(0, 100);
  plan.schedule.reset();
  EXPECT_EQ(refusal_of(plan, by_schedule()),
            "/schedule: this plan has no schedule; make one with espalier plan --schedule");
}

TEST(Schedule, ExcludesPortsRoundsAndTunedSegments) {
  const planner::Plan plan = planned_here(0, 100);
  BroadcastOptions options = by_schedule();
  options.ports = 1;
  EXPECT_EQ(refusal_of(plan, options),
            "a schedule cannot be combined with ports or rounds: it fixes the order of all sends");
  options.ports = 0;
  options.tuned = {{1000, 10, 0.1}};
  EXPECT_EQ(refusal_of(plan, options),
            "tuned segments cannot be combined with a fixed segment size, rounds or a schedule");
}

TEST(Schedule, OnSomeRanksOnlyIsRefused) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank agrees with itself";
  BroadcastOptions options = by_schedule();
  options.schedule = rank_in(MPI_COMM_WORLD) != 1;
  EXPECT_THAT(refusal_of(planned_here(0, 100), options), HasSubstr("different plans or options"));
}

TEST(Schedule, SizesThatDifferAmongRanksAreRefused) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
  for (const int odd_rank : {0, static_cast<int>(ranks) - 1}) {
    for (const std::size_t odd_size : {0UL, 250UL, 299UL, 301UL, 10'000UL}) {
      Broadcast broadcast(MPI_COMM_WORLD, planned_here(0, 100), by_schedule());
      std::vector<std::byte> buffer(10'000);
      const std::size_t bytes = rank_in(MPI_COMM_WORLD) == odd_rank ? odd_size : 300;
      EXPECT_THAT(refusal_of(broadcast, buffer, bytes), HasSubstr("disagree on the size"));
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

}  // namespace
}  // namespace espalier::testing::schedule_test
