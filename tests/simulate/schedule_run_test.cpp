// Runs of a periodic schedule, checked by replaying their sends piece by piece.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "planner/schedule/make_schedule.hpp"
#include "planner/solve/make_plan.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/follow_schedule.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/planner/references/two_chains.hpp"

namespace espalier::simulate::schedule_run_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

constexpr Bytes kSegment{65536};

struct Piece {
  double start;
  double end;
  double bytes;  // at the rate of whole segments
};

// All pieces that a run reports, by edge and by port, in order of time.
struct Replay {
  std::map<std::tuple<std::uint32_t, std::uint32_t>, std::vector<Piece>> into;  // tree, child
  std::map<std::uint32_t, std::vector<Piece>> on;                               // resource
};

Replay replay(const Simulator& simulator, const planner::Plan& plan, Bytes message) {
  const std::vector<std::vector<double>> none;
  Replay result;
  static_cast<void>(simulator.run(message, [&](const Send& send) {
    const double seconds = send.holdings.front().seconds;
    double pace = 0;  // bytes per second, by the plan's schedule
    for (const planner::ScheduledSend& of : plan.schedule->sends) {
      if (of.tree == send.tree && of.child == send.child) pace = of.bytes / of.time.value;
    }
    const Piece piece{send.start.value, send.start.value + seconds, seconds * pace};
    result.into[{send.tree, send.child}].push_back(piece);
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

// No host sends the beginning of a segment before it has all of it.
void expect_causal(const Replay& of, const planner::Plan& plan,
                   const platforms::Platform& platform) {
  const auto segment = static_cast<double>(plan.segment.value);
  const std::uint32_t source = planner::source_index(plan);
  for (std::uint32_t tree = 0; tree < plan.broadcast_trees.size(); ++tree) {
    for (const auto& [parent, child] : plan.broadcast_trees[tree].edges) {
      const auto out = of.into.find({tree, child});
      if (out == of.into.end() || parent == source) continue;
      const std::uint32_t parent_id = parent;
      const auto& edges = plan.broadcast_trees[tree].edges;
      const auto up = std::ranges::find(edges, parent_id, &planner::PlanEdge::child);
      const auto arc =
          platform.find_arc(platform.hosts()[up->parent], platform.hosts()[parent]).value();
      const std::vector<Piece>& in = of.into.at({tree, parent});
      double begun = 0;
      for (const Piece& piece : out->second) {
        // The last segment of which the piece has a byte.
        const double last = std::floor((begun + piece.bytes) / segment * (1 - 1e-9)) + 1;
        const double had = time_of(in, last * segment) + platform.arc(arc).latency.value;
        // Bytes after the last received piece belong to the end of the short segment.
        EXPECT_LE(had, (piece.end) * (1 + 1e-9)) << "tree " << tree << " host " << child;
        const double first = std::floor(begun / segment * (1 + 1e-9) + 1e-9) + 1;
        EXPECT_LE(time_of(in, first * segment) + platform.arc(arc).latency.value,
                  piece.start * (1 + 1e-9) + 1e-12);
        begun += piece.bytes;
      }
    }
  }
}

void expect_done_when_all_has_arrived(const Replay& of, const Simulation& simulation,
                                      const planner::Plan& plan,
                                      const platforms::Platform& platform) {
  std::vector<double> done(plan.nodes.size(), 0);
  for (std::uint32_t tree = 0; tree < plan.broadcast_trees.size(); ++tree) {
    for (const auto& [parent, child] : plan.broadcast_trees[tree].edges) {
      const auto in = of.into.find({tree, child});
      if (in == of.into.end()) continue;
      const auto arc = platform.find_arc(platform.hosts()[parent], platform.hosts()[child]).value();
      const double latency = plan.latency_occupies ? 0 : platform.arc(arc).latency.value;
      done[child] = std::max(done[child], in->second.back().end + latency);
    }
  }
  for (std::size_t host = 0; host < done.size(); ++host) {
    EXPECT_NEAR(simulation.done[host].value, done[host], 1e-9 * done[host] + 1e-12);
  }
}

TEST(ScheduledRun, RespectsPortsAndCausalityAndReportsItsTimes) {
  std::size_t checked = 0;
  for_each_platform(
      8, 7, platforms::Model::kOnePort, [&](const DrawnPlatform& drawn, const std::string& trace) {
        SCOPED_TRACE(trace);
        if (drawn.platform.hosts().size() < drawn.platform.nodes().size() ||
            !drawn.platform.shared_links().empty() || drawn.options.latency_occupies) {
          return;
        }
        const planner::Instance instance = drawn.under(platforms::Model::kOnePort);
        planner::Plan plan = planner::make_plan(
            instance, "optimal", espalier::testing::run("optimal", instance), kSegment);
        plan.schedule = planner::make_schedule(instance, plan);
        ++checked;
        Dice dice(plan.broadcast_trees.size());
        const Bytes message{dice.from_to(1, 400 * kSegment.value)};
        const Simulator simulator(plan, drawn.platform);
        ASSERT_TRUE(simulator.follows_schedule());
        const Replay of = replay(simulator, plan, message);
        expect_ports_serve_one(of);
        expect_causal(of, plan, drawn.platform);
        expect_done_when_all_has_arrived(of, simulator.run(message), plan, drawn.platform);
      });
  EXPECT_GT(checked, 20U);
}

// Unlike a greedy run, the schedule always reaches its throughput in the limit.
TEST(ScheduledRun, ReachesTheSchedulesThroughput) {
  for_each_platform(
      4, 7, platforms::Model::kOnePort, [](const DrawnPlatform& drawn, const std::string& trace) {
        SCOPED_TRACE(trace);
        if (drawn.platform.hosts().size() < drawn.platform.nodes().size() ||
            !drawn.platform.shared_links().empty()) {
          return;
        }
        const planner::Instance instance = drawn.under(platforms::Model::kOnePort);
        planner::Plan plan = planner::make_plan(
            instance, "optimal", espalier::testing::run("optimal", instance), kSegment);
        plan.schedule = planner::make_schedule(instance, plan);
        const auto in_period = std::accumulate(plan.schedule->segments.begin(),
                                               plan.schedule->segments.end(), std::uint64_t{0});
        const Simulation simulation =
            Simulator(plan, drawn.platform).run({1000 * in_period * kSegment.value});
        EXPECT_GT(simulation.achieved.value, 0.98 * plan.schedule->throughput.value);
        EXPECT_LT(simulation.achieved.value, (1 + 1e-9) * plan.schedule->throughput.value);
        EXPECT_GT(simulation.achieved.value, 0.97 * plan.throughput.value);
      });
}

//     s            s
//     |            |
//     a            b
//     |            |
//     b            a
//
// Segments of 4 bytes, 4 s each, in a period of 8 s: s sends to a, then to b. A batch of one
// segment of each tree arrives everywhere after two periods: a forwards the first tree's segment at
// the start of the next period, b the second tree's in the second half.
TEST(ScheduledRun, OfTwoChainsTakesDepthMinusOneFurtherPeriods) {
  const platforms::Platform platform = espalier::testing::triangle();
  planner::Plan plan = espalier::testing::two_chains();
  plan.schedule = planner::PlanSchedule{{8},
                                        {1},
                                        {1, 1},
                                        {{0, 0, 1, {0}, {4}, 4},
                                         {0, 1, 2, {0}, {4}, 4},
                                         {1, 0, 2, {4}, {4}, 4},
                                         {1, 2, 1, {4}, {4}, 4}}};
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

// A batch of segments 1 and 3 of two trees, by hand.
TEST(BatchedAssignment, DividesTheRest) {
  const planner::PlanSchedule schedule{{1}, {1}, {1, 3, 0}, {}};
  EXPECT_THAT(assign_in_batches(schedule, 4).segments, ElementsAre(1, 3, 0));
  EXPECT_THAT(assign_in_batches(schedule, 1).segments, ElementsAre(0, 1, 0));
  EXPECT_EQ(assign_in_batches(schedule, 1).last_tree, 1U);
  EXPECT_THAT(assign_in_batches(schedule, 6).segments, ElementsAre(2, 4, 0));
  EXPECT_THAT(assign_in_batches(schedule, 7).segments, ElementsAre(2, 5, 0));
  EXPECT_THAT(assign_in_batches(schedule, 400).segments, ElementsAre(100, 300, 0));
}

}  // namespace
}  // namespace espalier::simulate::schedule_run_test
