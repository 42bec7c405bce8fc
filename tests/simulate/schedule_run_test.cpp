// Runs of a periodic schedule, checked by replaying their sends piece by piece.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "planner/schedule/make_schedule.hpp"
#include "planner/solve/make_plan.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/follow_schedule.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/planner/references/two_chains.hpp"

namespace espalier::simulate::schedule_run_test {
namespace {

using espalier::testing::Dice;
using espalier::testing::DrawnPlatform;
using espalier::testing::for_each_platform;
using ::testing::ElementsAre;

constexpr Bytes kSegment{65536};

struct Piece {
  double start;
  double end;
  double bytes;  // at the rate of whole segments
};

// All pieces that a run reports, by edge and by port, in order of time.
struct Replay {
  std::map<std::tuple<std::uint32_t, std::uint32_t>, std::vector<Piece>> along;  // tree, child
  std::map<std::uint32_t, std::vector<Piece>> on;                                // resource
};

Replay replay(const Simulator& simulator, const planner::Plan& plan, Bytes message) {
  Replay result;
  static_cast<void>(simulator.run(message, [&](const Send& send) {
    const double seconds = send.holdings.front().seconds;
    const bool up = send.kind == Send::Kind::kUp;
    const auto tree = send.tree + static_cast<std::uint32_t>(up ? 0 : plan.reduce_trees.size());
    double pace = 0;  // bytes per second, by the plan's schedule
    for (const planner::ScheduledSend& of : plan.schedule->sends) {
      if (of.tree == tree && of.child == send.child) pace = of.bytes / of.time.value;
    }
    const Piece piece{send.start.value, send.start.value + seconds, seconds * pace};
    result.along[{tree, send.child}].push_back(piece);
    for (const Holding& held : send.holdings) result.on[held.resource].push_back(piece);
  }));
  return result;
}

void expect_ports_serve_one(const Replay& of) {
  for (const auto& [resource, pieces] : of.on) {
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      EXPECT_LE(pieces[i - 1].end, pieces[i].start * (1 + 1e-9) + 1e-12) << "resource " << resource;
    }
  }
}

// The time at which the first `bytes` of an edge have passed.
double time_of(const std::vector<Piece>& pieces, double bytes) {
  for (const Piece& piece : pieces) {
    if (bytes <= piece.bytes * (1 + 1e-9)) {
      return piece.start + (piece.end - piece.start) * std::min(1.0, bytes / piece.bytes);
    }
    bytes -= piece.bytes;
  }
  return pieces.back().end;
}

double latency_on(const planner::Plan& plan, const platforms::Platform& platform,
                  const planner::DirectedTree& of, const planner::PlanEdge& edge) {
  const auto arc =
      platform.find_arc(platform.hosts()[of.sender(edge)], platform.hosts()[of.receiver(edge)]);
  return plan.latency_occupies ? 0 : platform.arc(arc.value()).latency.value;
}

// No segment of `out` begins before it has arrived, all of it, by `in` and a latency.
void expect_after(const std::vector<Piece>& out, const std::vector<Piece>& in, double latency,
                  double segment) {
  double begun = 0;
  for (const Piece& piece : out) {
    // The last segment of which the piece has a byte.
    const double last = std::floor((begun + piece.bytes) / segment * (1 - 1e-9)) + 1;
    // Bytes after the last received piece belong to the end of the short segment.
    EXPECT_LE(time_of(in, last * segment) + latency, piece.end * (1 + 1e-9));
    const double first = std::floor(begun / segment * (1 + 1e-9) + 1e-9) + 1;
    EXPECT_LE(time_of(in, first * segment) + latency, piece.start * (1 + 1e-9) + 1e-12);
    begun += piece.bytes;
  }
}

// No host sends the beginning of a segment before it has all of it, from all children where it is
// combined.
void expect_causal(const Replay& of, const planner::Plan& plan,
                   const platforms::Platform& platform) {
  const auto segment = static_cast<double>(plan.segment.value);
  const std::vector<planner::DirectedTree> trees = planner::trees_in_order(plan);
  for (std::uint32_t tree = 0; tree < trees.size(); ++tree) {
    for (const planner::PlanEdge& edge : trees[tree].tree->edges) {
      for (const planner::PlanEdge& before : trees[tree].tree->edges) {
        if (trees[tree].receiver(before) != trees[tree].sender(edge)) continue;
        const auto out = of.along.find({tree, edge.child});
        if (out == of.along.end()) continue;
        SCOPED_TRACE(::testing::Message() << "tree " << tree << ", edge of " << edge.child);
        expect_after(out->second, of.along.at({tree, before.child}),
                     latency_on(plan, platform, trees[tree], before), segment);
      }
    }
  }
}

// In an allreduce the root sends nothing of a batch before it has all of it, of all reduce trees.
void expect_root_waits(const Replay& of, const planner::Plan& plan,
                       const platforms::Platform& platform) {
  const std::uint32_t root = planner::source_index(plan);
  const std::vector<planner::DirectedTree> trees = planner::trees_in_order(plan);
  const auto batch = [&](std::uint32_t tree) {
    return static_cast<double>(plan.schedule->segments[tree]) *
           static_cast<double>(plan.segment.value);
  };
  for (const auto& [out, sent] : of.along) {
    const std::uint32_t down = std::get<0>(out);
    const auto& edges = trees[down].tree->edges;
    const auto edge = std::ranges::find(edges, std::get<1>(out), &planner::PlanEdge::child);
    if (trees[down].up || edge->parent != root) continue;
    for (const auto& [in, received] : of.along) {
      const std::uint32_t up = std::get<0>(in);
      const auto& ups = trees[up].tree->edges;
      const auto into = std::ranges::find(ups, std::get<1>(in), &planner::PlanEdge::child);
      if (!trees[up].up || into->parent != root) continue;
      const double latency = latency_on(plan, platform, trees[up], *into);
      double begun = 0;
      for (const Piece& piece : sent) {
        const double batches = std::floor(begun / batch(down) * (1 + 1e-9)) + 1;
        EXPECT_LE(time_of(received, batches * batch(up)) + latency,
                  piece.start * (1 + 1e-9) + 1e-12);
        begun += piece.bytes;
      }
    }
  }
}

void expect_done_when_all_has_arrived(const Replay& of, const Simulation& simulation,
                                      const planner::Plan& plan,
                                      const platforms::Platform& platform) {
  const std::uint32_t root = planner::source_index(plan);
  const std::vector<planner::DirectedTree> trees = planner::trees_in_order(plan);
  std::vector<double> done(plan.nodes.size(), 0);
  for (std::uint32_t tree = 0; tree < trees.size(); ++tree) {
    for (const planner::PlanEdge& edge : trees[tree].tree->edges) {
      const auto along = of.along.find({tree, edge.child});
      if (along == of.along.end()) continue;
      const double end = along->second.back().end;
      if (trees[tree].up) done[edge.child] = std::max(done[edge.child], end);
      const std::uint32_t receiver = trees[tree].receiver(edge);
      if (trees[tree].up && receiver != root) continue;
      const double latency = latency_on(plan, platform, trees[tree], edge);
      done[receiver] = std::max(done[receiver], end + latency);
    }
  }
  for (std::size_t host = 0; host < done.size(); ++host) {
    EXPECT_NEAR(simulation.done[host].value, done[host], 1e-9 * done[host] + 1e-12);
  }
}

// The optimal plan with its schedule; none if the platform has relays or shared links.
std::optional<planner::Plan> scheduled(const DrawnPlatform& drawn, planner::Operation operation) {
  if (drawn.platform.hosts().size() < drawn.platform.nodes().size() ||
      !drawn.platform.shared_links().empty()) {
    return std::nullopt;
  }
  const planner::Collective collective = drawn.under(platforms::Model::kOnePort, operation);
  const planner::Algorithm optimal = planner::find_algorithm("optimal", operation);
  planner::Plan plan =
      planner::make_plan(collective, "optimal", planner::run(optimal, collective, {}), kSegment);
  plan.schedule = planner::make_schedule(collective, plan);
  return plan;
}

class ScheduledRun : public ::testing::TestWithParam<planner::Operation> {};

TEST_P(ScheduledRun, RespectsPortsAndCausalityAndReportsItsTimes) {
  std::size_t checked = 0;
  const auto check = [&](const DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    const std::optional<planner::Plan> plan = scheduled(drawn, GetParam());
    if (!plan) return;
    ++checked;
    Dice dice(planner::tree_count(*plan));
    const Bytes message{dice.from_to(1, 400 * kSegment.value)};
    const Simulator simulator(*plan, drawn.platform);
    ASSERT_TRUE(simulator.follows_schedule());
    const Replay of = replay(simulator, *plan, message);
    expect_ports_serve_one(of);
    expect_causal(of, *plan, drawn.platform);
    expect_root_waits(of, *plan, drawn.platform);
    expect_done_when_all_has_arrived(of, simulator.run(message), *plan, drawn.platform);
  };
  for_each_platform(GetParam(), 8, 7, platforms::Model::kOnePort, check);
  EXPECT_GT(checked, 20U);
}

// Unlike a greedy run, the schedule always reaches its throughput in the limit.
TEST_P(ScheduledRun, ReachesTheSchedulesThroughput) {
  const auto check = [&](const DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    const std::optional<planner::Plan> plan = scheduled(drawn, GetParam());
    if (!plan) return;
    const std::uint64_t in_period = planner::segments_in_period(*plan, *plan->schedule);
    const Simulation simulation =
        Simulator(*plan, drawn.platform).run({1000 * in_period * kSegment.value});
    EXPECT_GT(simulation.achieved.value, 0.98 * plan->schedule->throughput.value);
    EXPECT_LT(simulation.achieved.value, (1 + 1e-9) * plan->schedule->throughput.value);
    EXPECT_GT(simulation.achieved.value, 0.97 * plan->throughput.value);
  };
  for_each_platform(GetParam(), 4, 7, platforms::Model::kOnePort, check);
}

INSTANTIATE_TEST_SUITE_P(Operations, ScheduledRun, ::testing::ValuesIn(planner::kOperations),
                         [](const auto& test) {
                           return std::string(planner::name_of(test.param));
                         });

//     s            s
//     |            |
//     a            b
//     |            |
//     b            a
//
// Segments of 4 bytes, 4 s each, in a period of 8 s: s sends to a, then to b. A batch of one
// segment of each tree arrives everywhere after two periods: a forwards the first tree's segment at
// the start of the next period, b the second tree's in the second half.
TEST(ScheduledTwoChains, TakeDepthMinusOneFurtherPeriods) {
  const platforms::Platform platform = espalier::testing::triangle();
  planner::Plan plan = espalier::testing::two_chains();
  plan.schedule = espalier::testing::schedule_of_two_chains();
  const Simulator simulator(plan, platform);
  const Simulation ten = simulator.run({10 * 8});
  EXPECT_DOUBLE_EQ(ten.makespan.value, (10 + 2 - 1) * 8);
  EXPECT_DOUBLE_EQ(ten.done[1].value, 88);  // of the second tree from b
  EXPECT_DOUBLE_EQ(ten.done[2].value, 84);  // of the first tree from a
  // Half a batch more: one segment, of the first tree, as both trees have equal remainders.
  const Simulation half = simulator.run({10 * 8 + 4});
  EXPECT_DOUBLE_EQ(half.done[1].value, 88);
  EXPECT_DOUBLE_EQ(half.done[2].value, 92);
  // A quarter of that segment takes a quarter of its time.
  EXPECT_DOUBLE_EQ(simulator.run({10 * 8 + 1}).done[2].value, 89);
  EXPECT_EQ(simulator.run({0}).makespan.value, 0);
}

// In reverse: b has a batch of the first tree one period before a, which combines it.
TEST(ScheduledTwoChains, OfAReduceTakeAsLong) {
  const platforms::Platform platform = espalier::testing::small_platform(
      {"s", "a", "b"}, {{"a", "s", 1}, {"b", "s", 1}, {"a", "b", 1}, {"b", "a", 1}});
  planner::Plan plan = espalier::testing::two_chains();
  plan.operation = planner::Operation::kReduce;
  plan.reduce_trees = std::exchange(plan.broadcast_trees, {});
  plan.schedule = espalier::testing::schedule_of_two_chains();
  const Simulator simulator(plan, platform);
  const Simulation ten = simulator.run({10 * 8});
  EXPECT_DOUBLE_EQ(ten.makespan.value, (10 + 2 - 1) * 8);
  EXPECT_DOUBLE_EQ(ten.done[0].value, 88);
  EXPECT_DOUBLE_EQ(ten.done[1].value, 84);  // its last segment is that of the first tree
  EXPECT_DOUBLE_EQ(ten.done[2].value, 88);
}

// A batch of segments 1 and 3 of two trees, by hand.
TEST(BatchedAssignment, DividesTheRest) {
  const std::vector<std::uint64_t> batch{1, 3, 0};
  EXPECT_THAT(assign_in_batches(batch, 4).segments, ElementsAre(1, 3, 0));
  EXPECT_THAT(assign_in_batches(batch, 1).segments, ElementsAre(0, 1, 0));
  EXPECT_EQ(assign_in_batches(batch, 1).last_tree, 1U);
  EXPECT_THAT(assign_in_batches(batch, 6).segments, ElementsAre(2, 4, 0));
  EXPECT_THAT(assign_in_batches(batch, 7).segments, ElementsAre(2, 5, 0));
  EXPECT_THAT(assign_in_batches(batch, 400).segments, ElementsAre(100, 300, 0));
}

}  // namespace
}  // namespace espalier::simulate::schedule_run_test
