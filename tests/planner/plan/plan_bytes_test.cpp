#include "planner/plan/plan_bytes.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/planner/plan/plans.hpp"

namespace espalier::planner::plan_bytes_test {
namespace {

Plan with_all_of_a_tree() {
  Plan plan = scheduled_chains();
  plan.latency_occupies = true;
  plan.cost = PlanCost{2.5, 1.25, 3, "USD"};
  plan.broadcast_trees[0].colors = {0, 1};
  plan.broadcast_trees[0].exchange = {{2, 1}};
  plan.broadcast_trees[0].latencies = {{2.5e-4}, {0}};
  return plan;
}

Plan with_blocks() {
  Plan plan = two_chains();
  plan.operation = Operation::kScatter;
  plan.optimum.reset();
  plan.blocks = {{BlockKind::kRoute, 0, 0.25, {}, {{{1e6}, {{0, 2}}, {}}}, 2, {}},
                 {BlockKind::kSpread, 1, 0.75, 0, {{{2e6}, {{1, 0}, {0, 2}}, {}}}, {}, {0, 2}}};
  plan.broadcast_trees.clear();
  return plan;
}

// The file has every field, and so shows a difference in any.
TEST(PlanBytes, HoldAllOfAPlanButItsRelays) {
  for (Plan plan : {two_chains(), with_all_of_a_tree(), allreduce_chains(), with_blocks()}) {
    const Plan again = from_bytes(to_bytes(plan));
    for (auto* trees : {&plan.reduce_trees, &plan.broadcast_trees}) {
      for (PlanTree& tree : *trees) tree.via.clear();
    }
    EXPECT_EQ(to_json(again), to_json(plan));
  }
}

TEST(PlanBytes, OfAPartOrOfMoreAreRefused) {
  const std::string bytes = to_bytes(with_all_of_a_tree());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW((void)from_bytes(bytes.substr(0, length)), std::invalid_argument) << length;
  }
  EXPECT_THROW((void)from_bytes(bytes + '\0'), std::invalid_argument);
}

}  // namespace
}  // namespace espalier::planner::plan_bytes_test
