// Times of pipelined trees from period and fill.
#include "cost_models/formulas/pipelined_trees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tests/cost_models/plain_events.hpp"

namespace espalier::cost_models::pipelined_trees_test {
namespace {

std::string refusal(const std::vector<PipelinedTree>& trees) {
  try {
    (void)predict_pipelined(trees);
  } catch (const InputError& fault) {
    return fault.what();
  }
  return "accepted";
}

// A chain whose links take 2, 5 and 3 per segment: period 5, the first segment takes 10.
TEST(PipelinedTrees, IsExactForAChainOfHeterogeneousLinks) {
  const std::vector<double> link_s{2, 5, 3};
  for (std::uint64_t segments = 1; segments < 20; ++segments) {
    std::vector<double> arrived(segments, 0);
    for (const double time : link_s) {
      double free_at = 0;
      for (double& at : arrived) at = free_at = std::max(at, free_at) + time;
    }
    EXPECT_DOUBLE_EQ(predict_pipelined(PipelinedTree{{5}, {5}, segments}).value, arrived.back());
  }
}

TEST(PipelinedTrees, AgreesWithTheBinaryTreeOfEqualLinks) {
  const Message segment{3, 3};
  for (const std::size_t segments : {1U, 2U, 9U}) {
    EXPECT_DOUBLE_EQ(predict_pipelined(PipelinedTree{{6}, {12}, segments}).value,
                     pipelined_s(binary_tree(15), segments, segment));
  }
}

TEST(PipelinedTrees, TheTreeThatEndsLastCounts) {
  EXPECT_EQ(predict_pipelined(std::vector<PipelinedTree>{{{2}, {7}, 10}, {{3}, {1}, 9}}).value, 28);
  EXPECT_EQ(predict_pipelined(std::vector<PipelinedTree>{{{2}, {7}, 0}, {{3}, {100}, 0}}).value, 0);
}

TEST(PipelinedTrees, RefusesInvalidTrees) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal({}), "no trees");
  EXPECT_EQ(refusal({{{1}, {1}, 1}, {{-1}, {1}, 1}}),
            "/1: period and fill must be finite and at least 0");
  EXPECT_EQ(refusal({{{1}, {kNaN}, 1}}), "/0: period and fill must be finite and at least 0");
  EXPECT_EQ(refusal({{{1e300}, {1}, UINT64_MAX}}), "the predicted time overflows a double");
}

}  // namespace
}  // namespace espalier::cost_models::pipelined_trees_test
