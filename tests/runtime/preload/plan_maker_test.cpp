#include "runtime/preload/plan_maker.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "planner/plan/segment_choice.hpp"

namespace espalier::preload::plan_maker_test {
namespace {

constexpr std::uint32_t kNodes = 8;
constexpr Seconds kLatency{0.01};
constexpr int k64KiB = 16;
constexpr int k64MiB = 26;

std::string name_of(std::uint32_t node) {
  return "n" + std::to_string(node);
}

// One tree from n0, of edges from parent(child) to each child.
template <class Parent>
planner::Plan plan_of(double rate, const Parent& parent) {
  planner::Plan plan;
  plan.source = name_of(0);
  plan.throughput = {rate};
  planner::PlanTree tree{{rate}, {}, {}, {}, {}};
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    plan.nodes.push_back(name_of(node));
    if (node == 0) continue;
    tree.edges.push_back({parent(node), node});
    tree.latencies.push_back(kLatency);
  }
  plan.broadcast_trees = {tree};
  return plan;
}

Members all_of_world() {
  Members members;
  members.world_size = kNodes;
  members.world_ranks.resize(kNodes);
  std::iota(members.world_ranks.begin(), members.world_ranks.end(), 0);
  return members;
}

// n0 sends to each other node; or each node to the next.
TEST(PlanMaker, OfSeveralGivenPlansTheFastestForTheSizeServes) {
  SharedSettings shared;
  shared.plans = {plan_of(1e8, [](std::uint32_t node) { return node - 1; }),
                  plan_of(1e8 / (kNodes - 1), [](std::uint32_t) { return 0U; })};
  PlanMaker maker(shared);
  const PlanMaker::Answer shorter = maker.answer(all_of_world(), k64KiB);
  EXPECT_EQ(shorter.given, 1);
  EXPECT_TRUE(shorter.serves.contains(k64KiB));
  EXPECT_FALSE(shorter.serves.contains(k64MiB));
  EXPECT_EQ(maker.answer(all_of_world(), k64MiB).given, 0);
}

TEST(PlanMaker, OneGivenPlanServesAllSizes) {
  SharedSettings shared;
  shared.plans = {plan_of(1e8, [](std::uint32_t node) { return node - 1; })};
  const PlanMaker::Answer answer = PlanMaker(shared).answer(all_of_world(), k64KiB);
  EXPECT_EQ(answer.given, 0);
  EXPECT_TRUE(answer.serves.contains(0));
  EXPECT_TRUE(answer.serves.contains(static_cast<int>(kSizeClasses) - 1));
}

#ifdef ESPALIER_TEST_PLANNER
// Equal links between all nodes.
SharedSettings with_platform() {
  std::string nodes;
  std::string links;
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    nodes += (nodes.empty() ? "" : ",") + std::string(R"({"name": ")") + name_of(node) + "\"}";
    for (std::uint32_t to = 0; to < node; ++to) {
      links += (links.empty() ? "" : ",") + std::string(R"({"from": ")") + name_of(node) +
               R"(", "to": ")" + name_of(to) +
               R"(", "bandwidth_Bps": 1e8, "latency_s": 0.01, "both_ways": true})";
    }
  }
  SharedSettings shared;
  shared.platform = R"({"format": "espalier-platform", "version": 1, "name": "mesh", "nodes": [)" +
                    nodes + R"(], "links": [)" + links + "]}";
  return shared;
}

double predicted_s(const PlanMaker::Answer& answer, Bytes message) {
  const planner::Plan plan = planner::parse_plan(answer.made, "made", planner::Roots::kAny);
  const planner::SegmentCosts costs;
  const Bytes segment{planner::Pipeline(plan).fitted_segment(message, costs)};
  return planner::Pipeline(plan).time(message, segment, costs.overhead).value;
}

TEST(PlanMaker, ShortMessagesGetAPlanOfTheirOwn) {
  using planner::Operation;
  const SharedSettings shared = with_platform();
  constexpr Seconds kAmple{1000};
  PlanMaker maker(shared, {.plan = kAmple, .size = kAmple, .sizes = kAmple});
  for (const Operation operation :
       {Operation::kBroadcast, Operation::kReduce, Operation::kAllreduce, Operation::kAllgather,
        Operation::kReduceScatter}) {
    SCOPED_TRACE(planner::name_of(operation));
    Members members = all_of_world();
    members.operation = operation;
    const PlanMaker::Answer longer = maker.answer(members, 40);
    EXPECT_FALSE(longer.serves.contains(k64KiB));
    EXPECT_EQ(longer.serves.most, static_cast<int>(kSizeClasses) - 1);
    const PlanMaker::Answer shorter = maker.answer(members, k64KiB);
    EXPECT_EQ(shorter.serves.least, k64KiB);
    EXPECT_EQ(shorter.serves.most, k64KiB);
    EXPECT_EQ(shorter.for_throughput, longer.made);
    const Bytes message = middle_of(k64KiB);
    EXPECT_LT(predicted_s(shorter, message), 0.9 * predicted_s(longer, message));
  }
}

TEST(PlanMaker, OnePlanServesAllSizesWhereOneIsAskedForOrRanksShareAHost) {
  SharedSettings shared = with_platform();
  Members members = all_of_world();
  members.is_local = true;
  EXPECT_TRUE(PlanMaker(shared).answer(members, k64KiB).serves.contains(k64MiB));
  shared.settings.algorithm = "optimal";
  EXPECT_TRUE(PlanMaker(shared).answer(all_of_world(), k64KiB).serves.contains(k64MiB));
}
#endif

}  // namespace
}  // namespace espalier::preload::plan_maker_test
