// Plans that the planner makes: two trees, exchange edges, rounds and schedules. They run in every
// test of collective_test.cpp, and their orders of sends are kept. MPI's profiling interface
// records the engine's MPI calls.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/rounds.hpp"
#include "engine/timetable.hpp"
#include "engine/tree_role.hpp"
#include "planner/registry.hpp"
#include "planner/schedule/make_schedule.hpp"
#include "planner/solve/make_plan.hpp"
#include "support/errors.hpp"
#include "tests/mpi/collective_cases.hpp"
#include "tests/mpi/recorded_calls.hpp"
#include "tests/mpi/refusals.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/schedules.hpp"

namespace espalier::testing::planned_test {
namespace {

using runtime::Broadcast;
using runtime::BroadcastOptions;

constexpr std::size_t kSegment = 64;

BroadcastOptions by_rounds() {
  BroadcastOptions options;
  options.rounds = true;
  return options;
}

BroadcastOptions by_schedule() {
  BroadcastOptions options;
  options.schedule = true;
  return options;
}

// For a single host, for which the planner makes no plan.
planner::Plan alone(std::uint64_t segment) {
  const planner::PlanTree tree = tree_shaped(Shape::kChain, 1, 0);
  return plan_of(1, 0, {tree, tree}, segment);
}

// A plan of this algorithm on a complete platform.
planner::Plan plan_by(const std::string& algorithm, std::uint32_t nodes, std::uint32_t source,
                      std::uint64_t segment) {
  if (nodes == 1) return alone(segment);
  const auto platform = complete_platform(nodes, 1e9);
  const planner::Instance instance = instance_of(platform, fmt::format("n{}", source));
  return planner::make_plan(instance, algorithm, run(algorithm, instance), Bytes{segment});
}

// A plan as `espalier plan --schedule` makes it, on a complete graph of links whose bandwidths
// differ by a factor of up to 10.
planner::Plan scheduled(std::uint32_t nodes, std::uint32_t source, std::uint64_t segment,
                        std::uint64_t seed) {
  if (nodes == 1) {
    planner::Plan plan = alone(segment);
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

planner::Plan scheduled_here(std::uint32_t source, std::uint64_t segment) {
  return scheduled(size_of(MPI_COMM_WORLD), source, segment, 1);
}

Case by(std::string name, const std::string& algorithm, BroadcastOptions options,
        planner::Operation operation = planner::Operation::kBroadcast) {
  return {std::move(name), operation, std::move(options),
          [algorithm](std::uint32_t nodes, std::uint32_t source, std::uint64_t segment) {
            return plan_by(algorithm, nodes, source, segment);
          }};
}

std::vector<Case> planned_cases() {
  return {by("TwoTreeSanders", "two-tree-sanders", as_planned()),
          by("TwoTreeSandersByRounds", "two-tree-sanders", by_rounds()),
          by("TwoTreeComplete", "two-tree-complete", as_planned()),
          by("SplitBinary", "split-binary", as_planned()),
          by("KChain", "k-chain", as_planned()),
          {"BySchedule", planner::Operation::kBroadcast, by_schedule(),
           [](std::uint32_t nodes, std::uint32_t source, std::uint64_t segment) {
             return scheduled(nodes, source, segment, source);
           }}};
}

INSTANTIATE_TEST_SUITE_P(Planned, Collectives, ::testing::ValuesIn(planned_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(PlannedReductions, Collectives,
                         ::testing::Values(by("ReduceByRounds", "two-tree-sanders", by_rounds(),
                                              planner::Operation::kReduce),
                                           by("AllreduceByRounds", "two-tree-sanders", by_rounds(),
                                              planner::Operation::kAllreduce)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Planned, Broadcasts, ::testing::ValuesIn(planned_cases()), case_name);

std::vector<int> by_order(std::uint32_t ranks) {
  std::vector<int> rank_of_node(ranks);
  std::iota(rank_of_node.begin(), rank_of_node.end(), 0);
  return rank_of_node;
}

// Runs a message of `size` units and returns this rank's MPI calls.
std::vector<Call> calls_of(const planner::Plan& plan, const BroadcastOptions& options,
                           std::size_t size) {
  const bool reduces = planner::reduces(plan.operation);
  runtime::Collective collective(MPI_COMM_WORLD, plan, options);
  calls.clear();
  recording = options.schedule || reduces ? Recording::kIssend : Recording::kIsend;
  if (reduces) {
    check_sum(collective, MPI_COMM_WORLD, size, 1);
  } else {
    check_run(collective, MPI_COMM_WORLD, size, 1);
  }
  recording = Recording::kOff;
  return calls;
}

TEST(ExchangeEdges, AreServedAfterTheTreesOtherEdges) {
  constexpr std::size_t kSegments = 40;  // 20 per tree
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  for (std::uint32_t source = 0; source < ranks; source += 2) {
    const planner::Plan plan = plan_by("split-binary", ranks, source, 100);
    const auto roles =
        engine::roles_of(plan.broadcast_trees, by_order(ranks), rank_in(MPI_COMM_WORLD));
    const std::vector<Call> made = calls_of(plan, as_planned(), 100 * kSegments);
    std::size_t segments_sent = 0;
    for (std::size_t tree = 0; tree < 2; ++tree) {
      std::vector<int> late;
      for (const engine::Edge& edge : std::span(roles[tree].out).last(roles[tree].exchanges)) {
        late.push_back(edge.peer);
      }
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
    EXPECT_EQ(segments_sent, kSegments / 2 * (roles[0].out.size() + roles[1].out.size()));
  }
}

// Each send and each receive is in the round that the plan assigns to it, at most one of each per
// round.
void expect_rounds_kept(planner::Plan plan, std::uint32_t source, engine::Kind kind) {
  const bool combines = kind == engine::Kind::kCombine;
  const int rank = rank_in(MPI_COMM_WORLD);
  const std::vector<int> order = by_order(size_of(MPI_COMM_WORLD));
  const auto roles = engine::roles_of(plan.broadcast_trees, order, rank, {}, kind);
  const auto rounds = engine::rounds_of(plan.broadcast_trees, source, order, rank, kind);
  if (combines) plan = reduce_plan(std::move(plan));
  std::map<std::uint64_t, int> in_round[2];
  std::map<std::pair<int, int>, std::uint64_t> done[2];  // by tree and peer
  std::uint64_t now = 0;
  for (const Call& call : calls_of(plan, by_rounds(), combines ? 12 * 31 + 5 : 3141)) {
    const auto tree = static_cast<std::size_t>(call.tree);
    const auto& edges = call.is_send ? roles[tree].out : roles[tree].in;
    const auto& first = call.is_send ? rounds[tree].sends : rounds[tree].receives;
    const auto edge = std::ranges::find(edges, call.peer, &engine::Edge::peer) - edges.begin();
    const std::uint64_t round =
        first[static_cast<std::size_t>(edge)] + 2 * done[call.is_send][{call.tree, call.peer}]++;
    EXPECT_GE(round, now);
    now = round;
    EXPECT_EQ(++in_round[call.is_send][round], 1) << "round " << round;
  }
  if (roles[0].in.empty() && roles[1].in.empty()) return;
  std::size_t edges = 0;  // 16 segments on each
  for (const engine::TreeRole& role : roles) edges += role.in.size();
  EXPECT_EQ(in_round[false].size(), 16 * edges);
}

TEST(Rounds, AreKept) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank sends nothing";
  for (std::uint32_t source = 0; source < ranks; ++source) {
    const planner::Plan plan = plan_by("two-tree-sanders", ranks, source, 100);
    for (const engine::Kind kind : {engine::Kind::kSpread, engine::Kind::kCombine}) {
      SCOPED_TRACE(kind == engine::Kind::kCombine ? "reduce" : "broadcast");
      expect_rounds_kept(plan, source, kind);
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
      const planner::Plan plan = plan_by("two-tree-sanders", nodes, source, 9000);
      Broadcast broadcast(part, plan, by_rounds());
      check_run(broadcast, part, 20 * 9000 + 1, nodes * 100 + source);
      runtime::Collective allreduce(part, allreduce_plan(plan, plan), by_rounds());
      check_sum(allreduce, part, 20 * 1125 + 1, nodes * 100 + source);
    }
    MPI_Comm_free(&part);
  }
}

// A hand-made plan: a chain whose edges have alternating colors.
TEST(Rounds, OfOneTree) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  planner::Plan plan = plan_shaped(Shape::kChain, ranks, 0, 50);
  for (std::size_t i = 0; i + 1 < ranks; ++i) plan.broadcast_trees[0].colors.push_back(i % 2);
  Broadcast broadcast(MPI_COMM_WORLD, plan, by_rounds());
  check_run(broadcast, MPI_COMM_WORLD, 1234, 1);
}

TEST(Rounds, NeedABufferForTwoSegments) {
  Broadcast broadcast(MPI_COMM_WORLD, plan_by("two-tree-sanders", size_of(MPI_COMM_WORLD), 0, 100),
                      by_rounds());
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

// Random schedules, also such as one-port hosts could not keep; the ranks follow only their order.
TEST(Schedule, OfAnyKind) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) GTEST_SKIP() << "one rank sends nothing";
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
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

TEST(Schedule, HasSegmentsOfAnySize) {
  for (const std::uint64_t segment_bytes : {2UL, 151UL, 2501UL}) {
    BroadcastOptions options = by_schedule();
    options.segment_bytes = segment_bytes;
    Broadcast broadcast(MPI_COMM_WORLD, scheduled_here(0, 100), options);
    EXPECT_EQ(broadcast.segment_bytes(7777), segment_bytes);
    check_run(broadcast, MPI_COMM_WORLD, 7777, segment_bytes);
  }
}

TEST(Schedule, OfTypesWithHoles) {
  constexpr int kCount = 500;
  MPI_Datatype pairs = MPI_DATATYPE_NULL;  // two ints out of three
  MPI_Datatype spaced = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_create_resized(pairs, 0, 3 * sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  Broadcast broadcast(MPI_COMM_WORLD, scheduled_here(0, kSegment + 1), by_schedule());
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

TEST(Schedule, NeedsABufferForDelayedSegments) {
  const planner::Plan plan = scheduled_here(0, 100);
  const std::uint64_t buffers = engine::Slots(plan).buffer_segments();
  Broadcast broadcast(MPI_COMM_WORLD, plan, by_schedule());
  auto shape = broadcast.stream_shape(kAnyMessage, 1 << 20);
  shape.segments_per_tree = buffers - 1;
  TestStore store(shape, 1);
  try {
    (void)broadcast.stream(1000, shape, store);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(),
              fmt::format("the schedule needs buffers for {} segments of each tree, not {}",
                          buffers, buffers - 1));
  }
}

// The calls that the schedule requires of this rank: its sends or its receives.
std::vector<Call> due(engine::SlotOrder order, bool are_sends,
                      std::span<const engine::TreeRole> roles,
                      const std::vector<std::uint64_t>& ends) {
  std::size_t left = 0;
  for (std::size_t tree = 0; tree < roles.size(); ++tree) {
    left += ends[tree] * (are_sends ? roles[tree].out : roles[tree].in).size();
  }
  std::vector<Call> in_order;
  for (; left > 0; --left, order.pass()) {
    const auto edge = order.next([&](std::uint32_t tree) { return ends[tree]; });
    const auto& role = roles[edge.tree];
    in_order.push_back(
        {are_sends, static_cast<int>(edge.tree), (are_sends ? role.out : role.in)[edge.edge].peer});
  }
  return in_order;
}

TEST(Schedule, IsKept) {
  constexpr std::size_t kSegments = 100;
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const auto rank_of_node = by_order(ranks);
  for (std::uint32_t source = 0; source < ranks; source += 3) {
    const planner::Plan plan = scheduled_here(source, kSegment);
    const engine::Slots slots(plan);
    const std::vector<Call> all = calls_of(plan, by_schedule(), kSegments * kSegment);
    const auto roles =
        engine::roles_of(plan.broadcast_trees, rank_of_node, rank_in(MPI_COMM_WORLD));
    const auto table = slots.of_rank(rank_of_node, rank_in(MPI_COMM_WORLD), roles);
    std::vector<std::uint64_t> ends;
    for (std::size_t tree = 0; tree < roles.size(); ++tree) {
      ends.push_back(slots.assignments().front().count(tree, kSegments));
    }
    for (const bool sends : {true, false}) {
      std::vector<Call> made;
      std::ranges::copy_if(all, std::back_inserter(made),
                           [&](const Call& call) { return call.is_send == sends; });
      EXPECT_EQ(made, due(sends ? table.sends : table.receives, sends, roles, ends)) << sends;
    }
  }
}

TEST(Schedule, ExcludesPortsRoundsAndTunedSegments) {
  const planner::Plan plan = scheduled_here(0, 100);
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
  EXPECT_THAT(refusal_of(scheduled_here(0, 100), options),
              ::testing::HasSubstr("different plans or options"));
}

}  // namespace
}  // namespace espalier::testing::planned_test
