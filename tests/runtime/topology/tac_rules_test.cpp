#include "runtime/topology/tac_rules.hpp"

#include <gtest/gtest.h>

namespace espalier::runtime::tac_rules_test {
namespace {

using planner::Operation;

constexpr Bytes kBelow{kTacLong.value - 1};

TEST(TacRules, OfBroadcasts) {
  EXPECT_EQ(tac_choice(Operation::kBroadcast, 13, 13, kTacLong), "reorder");
  EXPECT_EQ(tac_choice(Operation::kBroadcast, 14, 14, kBelow), "reorder");
  EXPECT_EQ(tac_choice(Operation::kBroadcast, 14, 14, kTacLong), "hierarchical-group");
  EXPECT_EQ(tac_choice(Operation::kBroadcast, 8, 4, kBelow), "hierarchical-node");
  EXPECT_EQ(tac_choice(Operation::kBroadcast, 8, 4, kTacLong), "hierarchical");
}

TEST(TacRules, OfReduces) {
  EXPECT_EQ(tac_choice(Operation::kReduce, 4, 4, kBelow), "reorder");
  EXPECT_EQ(tac_choice(Operation::kReduce, 4, 4, kTacLong), "hierarchical-group");
  EXPECT_EQ(tac_choice(Operation::kReduce, 8, 4, kBelow), "hierarchical-node");
  EXPECT_EQ(tac_choice(Operation::kReduce, 8, 4, kTacLong), "hierarchical");
}

TEST(TacRules, OfGathers) {
  EXPECT_EQ(tac_choice(Operation::kGather, 26, 13, kTacLong), "reorder");
  EXPECT_EQ(tac_choice(Operation::kGather, 14, 14, Bytes{1}), "hierarchical-group");
}

TEST(TacRules, AreForNoOtherOperation) {
  EXPECT_EQ(tac_choice(Operation::kAllreduce, 8, 4, kTacLong), std::nullopt);
  EXPECT_EQ(tac_choice(Operation::kAlltoall, 8, 2, Bytes{1}), std::nullopt);
}

}  // namespace
}  // namespace espalier::runtime::tac_rules_test
