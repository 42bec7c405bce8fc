// The order of operations under a schedule, computed without ranks.
#include "engine/timetable.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/plans.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/schedules.hpp"

namespace espalier::testing::timetable_test {
namespace {

using engine::require_timetable;
using engine::roles_of;
using engine::SlotOrder;
using engine::Slots;
using engine::Timetable;
using planner::Plan;
using planner::ScheduledSend;
using ::testing::ElementsAre;

// n0 -> n1 -> n2, two segments of 100 bytes in a period of 2 s.
Plan chain(std::vector<ScheduledSend> sends) {
  Plan plan = plan_of(3, 0, {tree_shaped(Shape::kChain, 3, 0, 100)}, 100);
  plan.schedule = planner::PlanSchedule{{2}, {100}, {2}, std::move(sends)};
  return plan;
}

std::vector<int> by_order(const Plan& plan) {
  std::vector<int> rank_of_node(plan.nodes.size());
  std::iota(rank_of_node.begin(), rank_of_node.end(), 0);
  return rank_of_node;
}

// In the trees of both kinds.
std::vector<engine::TreeRole> all_roles(const Plan& plan, int rank) {
  std::vector<engine::TreeRole> roles =
      roles_of(plan.reduce_trees, by_order(plan), rank, {}, engine::Kind::kCombine);
  std::ranges::move(roles_of(plan.broadcast_trees, by_order(plan), rank),
                    std::back_inserter(roles));
  return roles;
}

Timetable timetable_of(const Plan& plan, int rank) {
  const auto ranks = by_order(plan);
  return Slots(plan).of_rank(ranks, rank, all_roles(plan, rank));
}

// The delay of n1 -> n2 relative to n0 -> n1, in slots.
std::uint64_t later(const Plan& plan) {
  return timetable_of(plan, 2).receives.edges()[0].behind;
}

TEST(Timetable, AnEdgeBeginsWhenItsFirstSegmentHasArrived) {
  // n1 sends in the second half of a period what it received in the first.
  EXPECT_EQ(later(chain({{0, 0, 1, {0}, {1}, 200}, {0, 1, 2, {1}, {1}, 200}})), 0U);
  // In the reverse order: a whole period later.
  EXPECT_EQ(later(chain({{0, 1, 2, {0}, {1}, 200}, {0, 0, 1, {1}, {1}, 200}})), 2U);
  // At the same time: one segment later.
  EXPECT_EQ(later(chain({{0, 0, 1, {0}, {2}, 200}, {0, 1, 2, {0}, {2}, 200}})), 1U);
  // The second segment has not completely arrived when n1 starts to send it, although the first
  // has.
  EXPECT_EQ(later(chain({{0, 0, 1, {0}, {2}, 200}, {0, 1, 2, {1}, {1}, 200}})), 1U);
}

// n2 -> n1 -> n0: the root's edge is the last one, and the leaf's comes before it by as much as
// that of a broadcast comes after it.
TEST(Timetable, AReductionIsABroadcastInReverse) {
  const auto earlier = [](std::vector<ScheduledSend> sends) {
    const Plan plan = reduce_plan(chain(std::move(sends)));
    const auto behind = [&](int rank) { return timetable_of(plan, rank).sends.edges()[0].behind; };
    return behind(1) - behind(2);
  };
  EXPECT_EQ(earlier({{0, 1, 2, {0}, {1}, 200}, {0, 0, 1, {1}, {1}, 200}}), 0U);
  EXPECT_EQ(earlier({{0, 0, 1, {0}, {1}, 200}, {0, 1, 2, {1}, {1}, 200}}), 2U);
  EXPECT_EQ(earlier({{0, 0, 1, {0}, {2}, 200}, {0, 1, 2, {0}, {2}, 200}}), 1U);
}

TEST(Timetable, LatencyDelaysAnEdge) {
  Plan plan = chain({{0, 0, 1, {0}, {1}, 200}, {0, 1, 2, {1}, {1}, 200}});
  plan.broadcast_trees[0].latencies = {{0.5}, {0}};  // just in time
  EXPECT_EQ(later(plan), 0U);
  plan.broadcast_trees[0].latencies = {{0.75}, {0}};
  EXPECT_EQ(later(plan), 1U);
  plan.broadcast_trees[0].latencies = {{3.5}, {0}};
  EXPECT_EQ(later(plan), 4U);
  plan.broadcast_trees[0].latencies = {{1e300}, {0}};
  EXPECT_LE(later(plan), 40U);
}

//   n0 -> n1 in tree 0, n0 -> n2 in tree 1, in turns of half a segment; segments are placed at
//   their midpoint.
TEST(Timetable, SlotsAreOrderedByTheirMidpoints) {
  Plan plan = plan_of(
      3, 0, {tree_shaped(Shape::kFlat, 3, 0, 100), tree_shaped(Shape::kFlat, 3, 0, 100)}, 100);
  plan.schedule = planner::PlanSchedule{{10},
                                        {20},
                                        {1, 1},
                                        {{0, 0, 1, {0}, {1}, 30},
                                         {1, 0, 2, {1}, {3}, 60},
                                         {0, 0, 1, {4}, {2}, 70},
                                         {1, 0, 2, {6}, {1}, 40},
                                         {0, 0, 2, {7}, {1}, 100},
                                         {1, 0, 1, {8}, {1}, 100}}};
  ASSERT_NO_THROW(planner::check_structure(plan));
  const Timetable source = timetable_of(plan, 0);
  EXPECT_EQ(source.segments, 2U);
  std::vector<std::string> order;
  for (const SlotOrder::Slot& slot : source.sends.slots()) {
    const SlotOrder::Edge& edge = source.sends.edges()[slot.edge];
    order.push_back(fmt::format("{}>{}", edge.tree, edge.edge + 1));
  }
  EXPECT_THAT(order, ElementsAre("1>2", "0>1", "0>2", "1>1"));
  EXPECT_TRUE(source.receives.slots().empty());
}

TEST(SlotOrder, SkipsSegmentsThatTheMessageDoesNotHave) {
  SlotOrder order({{0, 0, 2, 3}, {1, 0, 1, 0}}, {{0, 0}, {1, 0}, {0, 1}});
  const std::vector<std::uint64_t> ends{3, 2};
  const auto end_of = [&](std::uint32_t tree) { return ends[tree]; };
  for (int run = 0; run < 2; ++run, order.reset()) {
    std::vector<std::uint32_t> trees;
    for (int i = 0; i < 5; ++i, order.pass()) trees.push_back(order.next(end_of).tree);
    EXPECT_THAT(trees, ElementsAre(1, 1, 0, 0, 0));
  }
}

// --- simulates all ranks, with one synchronous send and one receive at a time ---

class Ranks {
 public:
  Ranks(const Plan& plan, std::uint64_t segments)
      : slots_(plan), assignments_(slots_.assignments()), root_(planner::source_index(plan)) {
    const auto ranks = by_order(plan);
    for (const planner::SegmentAssignment& block : assignments_) {
      for (std::size_t tree = 0; tree < block.trees(); ++tree) {
        end_.push_back(block.count(tree, segments));
      }
    }
    for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
      roles_.push_back(all_roles(plan, rank));
      tables_.push_back(slots_.of_rank(ranks, rank, roles_.back()));
      auto& here = here_.emplace_back();
      auto& sent = sent_.emplace_back();
      for (const auto& role : roles_.back()) {
        here.emplace_back(role.in.size(), 0);
        sent.emplace_back(role.out.size(), 0);
      }
    }
  }

  // Returns false on a deadlock.
  bool run() {
    while (!is_done()) {
      bool any = false;
      for (std::size_t rank = 0; rank < tables_.size(); ++rank) any = send(rank) || any;
      if (!any) return false;
    }
    return true;
  }

 private:
  using Counts = std::vector<std::vector<std::vector<std::uint64_t>>>;  // [rank][tree][edge]

  [[nodiscard]] bool are_over(const Counts& counts, std::size_t rank) const {
    for (std::size_t tree = 0; tree < end_.size(); ++tree) {
      for (const std::uint64_t count : counts[rank][tree]) {
        if (count < end_[tree]) return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool is_done() const {
    for (std::size_t rank = 0; rank < tables_.size(); ++rank) {
      if (!are_over(here_, rank)) return false;
    }
    return true;
  }
  // The segments of a tree that the rank may have sent.
  [[nodiscard]] std::uint64_t ready(std::size_t rank, std::size_t tree) const {
    const bool has_result = assignments_.size() > 1 && !roles_[rank][tree].combines;
    if (rank == root_ && has_result) return combined_of(tree);
    std::uint64_t ready = end_[tree];
    for (const std::uint64_t here : here_[rank][tree]) ready = std::min(ready, here);
    return ready;
  }
  // In an allreduce: the segments of a tree before the first one that the root has not combined.
  [[nodiscard]] std::uint64_t combined_of(std::size_t tree) const {
    const planner::SegmentAssignment& up = assignments_.front();
    std::uint64_t all = UINT64_MAX;
    for (std::size_t k = 0; k < up.trees(); ++k) {
      const std::uint64_t here = ready(root_, k);
      if (here < end_[k]) all = std::min(all, up.segment_of(k, here));
    }
    if (all == UINT64_MAX) return end_[tree];
    return assignments_.back().count(tree - up.trees(), all);
  }
  // Those whose buffers are free.
  [[nodiscard]] std::uint64_t freed(std::size_t rank, std::size_t tree) const {
    std::uint64_t freed = ready(rank, tree);
    for (const std::uint64_t on : sent_[rank][tree]) freed = std::min(freed, on);
    return freed;
  }
  bool send(std::size_t from) {
    const auto end_of = [&](std::uint32_t tree) { return end_[tree]; };
    if (are_over(sent_, from)) return false;
    const auto edge = tables_[from].sends.next(end_of);
    std::uint64_t& sent = sent_[from][edge.tree][edge.edge];
    const auto to = static_cast<std::size_t>(roles_[from][edge.tree].out[edge.edge].peer);
    if (ready(from, edge.tree) <= sent || are_over(here_, to)) return false;
    const auto expected = tables_[to].receives.next(end_of);
    const auto& role = roles_[to][edge.tree];
    if (expected.tree != edge.tree || role.in[expected.edge].peer != static_cast<int>(from)) {
      return false;
    }
    std::uint64_t& here = here_[to][edge.tree][expected.edge];
    EXPECT_EQ(here, sent) << "the two ends of an edge expect different segments";
    const std::uint64_t buffers = role.combines ? expected.held : slots_.buffer_segments();
    if (sent - std::min(sent, freed(to, edge.tree)) >= buffers) return false;
    ++sent;
    ++here;
    tables_[from].sends.pass();
    tables_[to].receives.pass();
    return true;
  }

  Slots slots_;
  std::vector<planner::SegmentAssignment> assignments_;
  std::size_t root_;
  std::vector<std::vector<engine::TreeRole>> roles_;
  std::vector<Timetable> tables_;
  std::vector<std::uint64_t> end_;  // of each tree
  Counts here_;
  Counts sent_;
};

// Arbitrary schedules without structural faults, whether or not ports could follow them.
TEST(Timetable, NeverDeadlocks) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    const auto nodes = static_cast<std::uint32_t>(2 + random() % 9);
    const auto root = static_cast<std::uint32_t>(random() % nodes);
    Plan plan = random_plan_from(root, nodes, 100, 4, random);
    if (seed % 3 == 1) plan = reduce_plan(std::move(plan));
    if (seed % 3 == 2) {
      plan = allreduce_plan(std::move(plan), random_plan_from(root, nodes, 100, 4, random));
    }
    plan.schedule = random_schedule(plan, random);
    ASSERT_NO_THROW(planner::check_structure(plan));
    ASSERT_NO_THROW(require_timetable(plan));
    for (const std::uint64_t segments : {0, 1, 2, 7, 50, 301}) {
      EXPECT_TRUE(Ranks(plan, segments).run()) << segments << " segments";
    }
  }
}

// --- errors ---

std::string refusal(const Plan& plan) {
  return espalier::testing::refusal([&] {
    require_timetable(plan);
    return 0;
  });
}

TEST(TimetableFault, NamesTheReason) {
  Plan plan = chain({{0, 0, 1, {0}, {1}, 200}, {0, 1, 2, {1}, {1}, 200}});
  EXPECT_EQ(refusal(plan), "(not refused)");
  plan.schedule->segments = {UINT64_MAX};
  EXPECT_EQ(
      refusal(plan),
      "/schedule/slices: a period has 18446744073709551616 segments in 36893488147419103232 sends; "
      "at most 1048576 and 8388608 can be run");
  plan.schedule.reset();
  EXPECT_EQ(refusal(plan),
            "/schedule: this plan has no schedule; make one with espalier plan --schedule");
}

}  // namespace
}  // namespace espalier::testing::timetable_test
