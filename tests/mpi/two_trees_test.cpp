// Plans of topology-oblivious trees, made by the planner: the message is delivered, exchange edges
// are served last, and rounds are kept. MPI's profiling interface records the engine's MPI calls.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "planner/registry.hpp"
#include "planner/solve/make_plan.hpp"
#include "runtime/api/broadcast.hpp"
#include "runtime/engine/rounds.hpp"
#include "runtime/engine/tree_role.hpp"
#include "support/errors.hpp"
#include "tests/mpi/check_run.hpp"
#include "tests/mpi/plans.hpp"
#include "tests/mpi/recorded_calls.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::testing::two_trees_test {
namespace {

using runtime::Broadcast;
using runtime::BroadcastOptions;

// A plan of this algorithm on a complete platform. For a single host, for which the planner makes
// no plan, trees without edges.
planner::Plan plan_by(const std::string& algorithm, std::uint32_t nodes, std::uint32_t source,
                      std::uint64_t segment) {
  if (nodes == 1) {
    const planner::PlanTree tree = tree_shaped(Shape::kChain, 1, 0);
    return plan_of(1, 0, {tree, tree}, segment);
  }
  const auto platform = complete_platform(nodes, 1e9);
  const planner::Instance instance = instance_of(platform, fmt::format("n{}", source));
  return planner::make_plan(instance, algorithm, run(algorithm, instance), Bytes{segment});
}

struct Case {
  std::string algorithm;
  bool rounds = false;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.algorithm << (c.rounds ? " by rounds" : "");
}

std::string name_of(const Case& c) {
  std::string name = c.algorithm + (c.rounds ? "-rounds" : "");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

BroadcastOptions options_for(const Case& c) {
  BroadcastOptions options = as_planned();
  options.rounds = c.rounds;
  return options;
}

class TwoTrees : public ::testing::TestWithParam<Case> {};

TEST_P(TwoTrees, EveryRootAndSizesAroundSegmentBoundaries) {
  constexpr std::size_t kSegment = 64;
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  std::uint64_t message = 0;
  for (std::uint32_t source = 0; source < ranks; ++source) {
    SCOPED_TRACE(source);
    Broadcast broadcast(MPI_COMM_WORLD, plan_by(GetParam().algorithm, ranks, source, kSegment),
                        options_for(GetParam()));
    EXPECT_EQ(broadcast.root(), static_cast<int>(source));
    for (const std::size_t bytes : {0UL, 1UL, kSegment - 1, kSegment, kSegment + 1, 2 * kSegment,
                                    11 * kSegment, 20 * kSegment + 7}) {
      check_run(broadcast, MPI_COMM_WORLD, bytes, message++);
    }
  }
}

TEST_P(TwoTrees, SegmentsBeyondTheEagerLimit) {
  constexpr std::size_t kSegment = 200'000;
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  Broadcast broadcast(MPI_COMM_WORLD, plan_by(GetParam().algorithm, ranks, ranks / 2, kSegment),
                      options_for(GetParam()));
  for (const std::size_t bytes : {kSegment, kSegment + 1, 12 * kSegment + 4321}) {
    check_run(broadcast, MPI_COMM_WORLD, bytes, bytes);
  }
}

TEST_P(TwoTrees, EveryWindow) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const planner::Plan plan = plan_by(GetParam().algorithm, ranks, ranks - 1, 100);
  for (const std::size_t sends : {1UL, 3UL, 50UL}) {
    for (const std::size_t receives : {1UL, 2UL, 50UL}) {
      BroadcastOptions options = options_for(GetParam());
      options.sends_in_flight = sends;
      options.receives_in_flight = receives;
      Broadcast broadcast(MPI_COMM_WORLD, plan, options);
      check_run(broadcast, MPI_COMM_WORLD, 7777, sends * 100 + receives);
    }
  }
}

TEST_P(TwoTrees, StreamThroughSmallAndLargeBuffers) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  Broadcast broadcast(MPI_COMM_WORLD, plan_by(GetParam().algorithm, ranks, ranks / 3, 100),
                      options_for(GetParam()));
  auto shape = broadcast.stream_shape(kAnyMessage, 1 << 20);
  for (const std::uint64_t slots : {2UL, 3UL, 10UL, 1000UL}) {
    shape.segments_per_tree = slots;
    TestStore store(shape, slots);
    EXPECT_TRUE(broadcast.stream(4321, shape, store));
    EXPECT_EQ(store.wrong(), 0U);
    if (rank_in(MPI_COMM_WORLD) != broadcast.root()) {
      EXPECT_EQ(store.bytes(), 4321U);
    }
  }
}

TEST_P(TwoTrees, StopIfAStoreFailsAndThenWorkAgain) {
  std::mt19937_64 random(7);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  Broadcast broadcast(MPI_COMM_WORLD, plan_by(GetParam().algorithm, ranks, 0, 100),
                      options_for(GetParam()));
  auto shape = broadcast.stream_shape(kAnyMessage, 1 << 20);
  for (int i = 0; i < 12; ++i) {
    shape.segments_per_tree = i % 3 == 0 ? 500 : 2 + random() % 4;
    const std::uint64_t segments = 1 + random() % 60;
    TestStore store(shape, random());
    const auto failing = static_cast<int>(random() % ranks);
    const std::uint64_t at = 1 + random() % segments;
    if (rank_in(MPI_COMM_WORLD) == failing) store.fails_at = at;
    EXPECT_FALSE(broadcast.stream(100 * segments, shape, store));
    TestStore whole(shape, random());
    EXPECT_TRUE(broadcast.stream(100 * segments + 1, shape, whole));
    EXPECT_EQ(store.wrong() + whole.wrong(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, TwoTrees,
                         ::testing::Values(Case{"two-tree-sanders"}, Case{"two-tree-sanders", true},
                                           Case{"two-tree-complete"}, Case{"split-binary"},
                                           Case{"k-chain"}),
                         [](const auto& test) { return name_of(test.param); });

// --- the MPI calls and their order ---

// Broadcasts a message and returns this rank's MPI calls.
std::vector<Call> calls_of(const planner::Plan& plan, const BroadcastOptions& options,
                           std::size_t bytes) {
  Broadcast broadcast(MPI_COMM_WORLD, plan, options);
  calls.clear();
  recording = Recording::kIsend;
  check_run(broadcast, MPI_COMM_WORLD, bytes, 1);
  recording = Recording::kOff;
  return calls;
}

std::vector<int> by_order(std::uint32_t ranks) {
  std::vector<int> rank_of_node(ranks);
  std::iota(rank_of_node.begin(), rank_of_node.end(), 0);
  return rank_of_node;
}

TEST(ExchangeEdges, AreServedAfterTheTreesOtherEdges) {
  constexpr std::size_t kSegments = 40;  // 20 per tree
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  for (std::uint32_t source = 0; source < ranks; source += 2) {
    const planner::Plan plan = plan_by("split-binary", ranks, source, 100);
    const auto roles =
        runtime::roles_of(plan.broadcast_trees, by_order(ranks), rank_in(MPI_COMM_WORLD));
    const std::vector<Call> made = calls_of(plan, as_planned(), 100 * kSegments);
    std::size_t segments_sent = 0;
    for (std::size_t tree = 0; tree < 2; ++tree) {
      const auto& children = roles[tree].children;
      const std::vector<int> late(children.end() - std::ptrdiff_t(roles[tree].exchanges),
                                  children.end());
      bool exchanges = false;
      for (const Call& call : made) {
        if (call.tree != static_cast<int>(tree)) continue;
        const bool is_late = call.is_send && std::ranges::count(late, call.peer) > 0;
        EXPECT_FALSE(exchanges && !is_late)
            << (call.is_send ? "sends" : "receives") << " tree " << tree << " after an exchange";
        exchanges = exchanges || is_late;
        if (call.is_send) ++segments_sent;
      }
      EXPECT_EQ(exchanges, !late.empty());
    }
    EXPECT_EQ(segments_sent, kSegments / 2 * (roles[0].children.size() + roles[1].children.size()));
  }
}

// Each send and each receive is in the round that the plan assigns to it, at most one of each per
// round.
TEST(Rounds, AreKept) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  for (std::uint32_t source = 0; source < ranks; ++source) {
    const planner::Plan plan = plan_by("two-tree-sanders", ranks, source, 100);
    const auto roles =
        runtime::roles_of(plan.broadcast_trees, by_order(ranks), rank_in(MPI_COMM_WORLD));
    const auto rounds = runtime::rounds_of(plan, by_order(ranks), rank_in(MPI_COMM_WORLD));
    std::map<std::uint64_t, int> sends;
    std::map<std::uint64_t, int> receives;
    std::map<std::pair<int, int>, std::uint64_t> sent;  // by tree and child
    std::vector<std::uint64_t> received(2, 0);
    std::uint64_t now = 0;
    for (const Call& call : calls_of(plan, options_for({"", true}), 3141)) {
      const auto tree = static_cast<std::size_t>(call.tree);
      std::uint64_t round = rounds[tree].receive + 2 * received[tree];
      if (call.is_send) {
        const auto child = std::ranges::find(roles[tree].children, call.peer);
        round = rounds[tree].sends[static_cast<std::size_t>(child - roles[tree].children.begin())] +
                2 * sent[{call.tree, call.peer}]++;
      } else {
        ++received[tree];
      }
      EXPECT_GE(round, now);
      now = round;
      EXPECT_EQ(++(call.is_send ? sends : receives)[round], 1) << "round " << round;
    }
    if (ranks > 1 && rank_in(MPI_COMM_WORLD) != static_cast<int>(source)) {
      EXPECT_EQ(received[0] + received[1], 32U);
    }
  }
}

// On the first n ranks of the world, for every n and every source.
TEST(Rounds, TerminateForEveryNumberOfRanksAndEverySource) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks < 17) GTEST_SKIP() << "one run with all sizes is enough";
  for (std::uint32_t nodes = 2; nodes <= ranks; ++nodes) {
    MPI_Comm part = MPI_COMM_NULL;
    const bool takes_part = rank_in(MPI_COMM_WORLD) < static_cast<int>(nodes);
    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, 0, &part);
    if (!takes_part) continue;
    for (std::uint32_t source = 0; source < nodes; ++source) {
      SCOPED_TRACE(fmt::format("{} ranks, source {}", nodes, source));
      Broadcast broadcast(part, plan_by("two-tree-sanders", nodes, source, 9000),
                          options_for({"", true}));
      check_run(broadcast, part, 20 * 9000 + 1, nodes * 100 + source);
    }
    MPI_Comm_free(&part);
  }
}

// A hand-made plan: a chain whose edges have alternating colors.
TEST(Rounds, OfOneTree) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  planner::Plan plan = plan_shaped(Shape::kChain, ranks, 0, 50);
  for (std::size_t i = 0; i + 1 < ranks; ++i) plan.broadcast_trees[0].colors.push_back(i % 2);
  Broadcast broadcast(MPI_COMM_WORLD, plan, options_for({"", true}));
  check_run(broadcast, MPI_COMM_WORLD, 1234, 1);
}

TEST(Rounds, NeedABufferForTwoSegments) {
  Broadcast broadcast(MPI_COMM_WORLD, plan_by("two-tree-sanders", size_of(MPI_COMM_WORLD), 0, 100),
                      options_for({"", true}));
  auto shape = broadcast.stream_shape(kAnyMessage, 1 << 20);
  shape.segments_per_tree = 1;
  TestStore store(shape, 1);
  EXPECT_THROW((void)broadcast.stream(1000, shape, store), InputError);
}

// A hand-made plan with exchange edges in the middle of the list and above ordinary edges: a chain
// in which every second edge is an exchange edge.
TEST(ExchangeEdges, MayBeAboveOthers) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  for (std::uint32_t source = 0; source < ranks; ++source) {
    planner::PlanTree chain = tree_shaped(Shape::kChain, ranks, source);
    for (std::size_t i = 0; i < chain.edges.size(); i += 2) {
      chain.exchange.push_back(chain.edges[i]);
    }
    Broadcast broadcast(
        MPI_COMM_WORLD,
        plan_of(ranks, source, {chain, tree_shaped(Shape::kBinary, ranks, source, 3.0)}, 50),
        as_planned());
    check_run(broadcast, MPI_COMM_WORLD, 12345, source);
  }
}

}  // namespace
}  // namespace espalier::testing::two_trees_test
