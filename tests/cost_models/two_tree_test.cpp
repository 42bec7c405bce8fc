// The number of chunks of the two-tree broadcast.
#include "cost_models/formulas/two_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "cost_models/formulas/predict.hpp"
#include "support/errors.hpp"
#include "tests/cost_models/networks.hpp"

namespace espalier::cost_models::two_tree_test {
namespace {

TEST(TwoTree, NoOtherNumberOfChunksIsBetter) {
  for (const Preset& preset : presets()) {
    for (const std::uint64_t ranks : {2U, 3U, 16U, 1000U}) {
      for (const std::uint64_t message : {0U, 1U, 2U, 700U, 65536U, 1U << 20U}) {
        const Case of{ranks, {message}, {}, {}};
        const std::uint64_t best = optimal_chunks(preset.loggp, of);
        ASSERT_GE(best, 1U);
        ASSERT_LE(best, std::max<std::uint64_t>(message, 1));
        const double best_s = broadcast_two_tree_chunks(preset.loggp, of, best).value;
        for (std::uint64_t chunks = 1; chunks <= std::min<std::uint64_t>(message, 5000); ++chunks) {
          EXPECT_LE(best_s, broadcast_two_tree_chunks(preset.loggp, of, chunks).value)
              << preset.name << ' ' << ranks << ' ' << message << ' ' << chunks;
        }
      }
    }
  }
}

// sqrt(4 x 65536 x 0.084 / (2 x 23.8)) = 21.508. In a / N + b N, 22 is better than 21 if the
// optimum is above sqrt(21 x 22) = 21.494.
TEST(TwoTree, FrodosChunks) {
  const Case of{16, {65536}, {}, {}};
  const LogGP& frodo = find_preset("frodo").loggp;
  EXPECT_EQ(optimal_chunks(frodo, of), 22U);
  EXPECT_EQ(optimal_chunk_size(frodo, of).value, 2979U);
}

TEST(TwoTree, ChunksWithoutCostAreBytesAndBytesWithoutCostNeedOneChunk) {
  const Case of{16, {1000}, {}, {}};
  EXPECT_EQ(optimal_chunks({{1}, {0}, {0}, {1}}, of), 1000U);
  EXPECT_EQ(optimal_chunks({{1}, {0}, {0}, {0}}, of), 1U);
  EXPECT_EQ(optimal_chunks({{1}, {1}, {1}, {0}}, of), 1U);
  EXPECT_EQ(optimal_chunks({{1}, {0}, {0}, {1}}, {1, {1000}, {}, {}}), 1U);
  // The overhead counts if it is longer than the gap.
  EXPECT_EQ(optimal_chunks({{1}, {8}, {2}, {1}}, of), optimal_chunks({{1}, {8}, {8}, {1}}, of));
}

TEST(TwoTree, ASegmentSizeIsAChunkSize) {
  const LogGP& boba = find_preset("boba").loggp;
  EXPECT_DOUBLE_EQ(
      predict(entry_of("broadcast", "two-tree", "loggp"), boba, {16, {8000}, {1000}, {}}).value,
      broadcast_two_tree_chunks(boba, {16, {8000}, {}, {}}, 8).value);
}

TEST(TwoTree, RefusesNoChunks) {
  EXPECT_THROW(broadcast_two_tree_chunks(find_preset("boba").loggp, {4, {9}, {}, {}}, 0),
               InputError);
  EXPECT_THROW(optimal_chunks(find_preset("boba").loggp, {0, {9}, {}, {}}), InputError);
}

}  // namespace
}  // namespace espalier::cost_models::two_tree_test
