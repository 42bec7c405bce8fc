#include "planner/plan/shapes/oblivious_shapes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

namespace espalier::planner::oblivious_shapes_test {
namespace {

constexpr const char* kNames[] = {"flat",     "chain",        "binary",
                                  "binomial", "split-binary", "two-tree-complete"};

// "0>1 1>2 [2>1]": the exchange edges in brackets.
std::string text_of(const PlanTree& tree) {
  std::string text;
  for (const PlanEdge& edge : tree.edges) {
    const bool last = std::ranges::count(tree.exchange, edge) != 0;
    text += fmt::format("{}{}{}>{}{}", text.empty() ? "" : " ", last ? "[" : "", edge.parent,
                        edge.child, last ? "]" : "");
  }
  return text;
}

TEST(ObliviousShapes, MakeValidPlansForAnyRanksAndRoots) {
  for (const char* const name : kNames) {
    for (std::uint32_t ranks = 1; ranks <= 40; ++ranks) {
      for (const std::uint32_t root : {0U, ranks / 2, ranks - 1}) {
        const Plan plan = plan_of({name, Operation::kBroadcast, ranks, root, {1e9}});
        EXPECT_NO_THROW(check_structure(plan)) << name << " of " << ranks << " from " << root;
        EXPECT_EQ(source_index(plan), root);
        EXPECT_EQ(to_json(parse_plan(to_json(plan), "again")), to_json(plan));
      }
    }
  }
}

//      1                 1
//     / \               / \.
//    2   3             2   3      first the half of 2, and of 4 > 5
//   / \   \           / \   \.
//  4   5   0         4   5   0
TEST(ObliviousShapes, RotateWithTheRoot) {
  const Plan binary = plan_of({"binary", Operation::kBroadcast, 6, 1, {1e9}});
  EXPECT_EQ(text_of(binary.broadcast_trees.at(0)), "1>2 1>3 2>4 2>5 3>0");
  EXPECT_EQ(binary.source, "rank1");
  const Plan binomial = plan_of({"binomial", Operation::kBroadcast, 6, 1, {1e9}});
  EXPECT_EQ(text_of(binomial.broadcast_trees.at(0)), "1>5 1>3 1>2 3>4 5>0");
  const Plan split = plan_of({"split-binary", Operation::kBroadcast, 5, 4, {1e9}});
  ASSERT_EQ(split.broadcast_trees.size(), 2U);
  EXPECT_EQ(text_of(split.broadcast_trees[0]), "4>0 0>2 [0>1] [2>3]");
  EXPECT_EQ(text_of(split.broadcast_trees[1]), "4>1 1>3 [1>0] [3>2]");
  EXPECT_EQ(split.broadcast_trees[0].rate, BytesPerSecond{5e8});
}

TEST(ObliviousShapes, ReduceAlongTheSameTrees) {
  const Plan up = plan_of({"chain", Operation::kReduce, 4, 2, {1e9}});
  EXPECT_TRUE(up.broadcast_trees.empty());
  EXPECT_EQ(text_of(up.reduce_trees.at(0)), "2>3 3>0 0>1");
  EXPECT_NO_THROW(check_structure(up));
  EXPECT_NO_THROW(check_structure(plan_of({"binomial", Operation::kAllreduce, 7, 0, {1e9}})));
  EXPECT_THROW(plan_of({"split-binary", Operation::kReduce, 4, 0, {1e9}}), std::invalid_argument);
  EXPECT_THROW(plan_of({"grow", Operation::kBroadcast, 4, 0, {1e9}}), std::invalid_argument);
}

}  // namespace
}  // namespace espalier::planner::oblivious_shapes_test
