// The number of chunks of collectives along two trees.
#include "cost_models/formulas/two_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "cost_models/formulas/predict.hpp"
#include "support/errors.hpp"
#include "tests/cost_models/networks.hpp"

namespace espalier::cost_models::two_tree_test {
namespace {

constexpr std::array kOperations{"broadcast", "reduce", "allreduce"};

TEST(TwoTree, NoOtherNumberOfChunksIsBetter) {
  for (const std::string_view operation : kOperations) {
    for (const Preset& preset : presets()) {
      for (const std::uint64_t ranks : {2U, 3U, 16U, 1000U}) {
        for (const std::uint64_t message : {0U, 1U, 2U, 700U, 65536U}) {
          const Case of{ranks, {message}, {}, {2e-9}};
          const std::uint64_t best = optimal_chunks(operation, preset.loggp, of);
          ASSERT_GE(best, 1U);
          ASSERT_LE(best, std::max<std::uint64_t>(message, 1));
          const double best_s = two_tree_chunks(operation, preset.loggp, of, best).value;
          for (std::uint64_t chunks = 1; chunks <= std::min<std::uint64_t>(message, 3000);
               ++chunks) {
            EXPECT_LE(best_s, two_tree_chunks(operation, preset.loggp, of, chunks).value)
                << operation << ' ' << preset.name << ' ' << ranks << ' ' << message << ' '
                << chunks;
          }
        }
      }
    }
  }
}

// Without work a reduction is a broadcast in reverse, and an allreduce is both.
TEST(TwoTree, WithoutWorkAllThreeHaveTheSameChunks) {
  const LogGP& boba = find_preset("boba").loggp;
  const Case of{24, {1 << 20}, {}, {}};
  const std::uint64_t chunks = optimal_chunks("broadcast", boba, of);
  EXPECT_EQ(optimal_chunks("reduce", boba, of), chunks);
  EXPECT_EQ(optimal_chunks("allreduce", boba, of), chunks);
  const double down = two_tree_chunks("broadcast", boba, of, chunks).value;
  EXPECT_DOUBLE_EQ(two_tree_chunks("reduce", boba, of, chunks).value, down);
  EXPECT_DOUBLE_EQ(two_tree_chunks("allreduce", boba, of, chunks).value, 2 * down);
}

// sqrt(4 x 65536 x (0.042 + 0.01) / 23.8) = 23.93 and sqrt(4 x 65536 x (0.084 + 0.01) / 47.6) =
// 22.75, with 0.01 us to combine a byte. Combining makes smaller chunks better.
TEST(TwoTree, FrodosChunksOfReductions) {
  const Case of{16, {65536}, {}, {1e-8}};
  const LogGP& frodo = find_preset("frodo").loggp;
  EXPECT_EQ(optimal_chunks("reduce", frodo, of), 24U);
  EXPECT_EQ(optimal_chunks("allreduce", frodo, of), 23U);
}

// sqrt(4 x 65536 x 0.084 / (2 x 23.8)) = 21.508. In a / N + b N, 22 is better than 21 if the
// optimum is above sqrt(21 x 22) = 21.494.
TEST(TwoTree, FrodosChunks) {
  const Case of{16, {65536}, {}, {}};
  const LogGP& frodo = find_preset("frodo").loggp;
  EXPECT_EQ(optimal_chunks("broadcast", frodo, of), 22U);
  EXPECT_EQ(optimal_chunk_size("broadcast", frodo, of).value, 2979U);
}

TEST(TwoTree, ChunksWithoutCostAreBytesAndBytesWithoutCostNeedOneChunk) {
  const Case of{16, {1000}, {}, {}};
  EXPECT_EQ(optimal_chunks("broadcast", {{1}, {0}, {0}, {1}}, of), 1000U);
  EXPECT_EQ(optimal_chunks("broadcast", {{1}, {0}, {0}, {0}}, of), 1U);
  EXPECT_EQ(optimal_chunks("broadcast", {{1}, {1}, {1}, {0}}, of), 1U);
  EXPECT_EQ(optimal_chunks("broadcast", {{1}, {0}, {0}, {1}}, {1, {1000}, {}, {}}), 1U);
  // The overhead counts if it is longer than the gap.
  EXPECT_EQ(optimal_chunks("broadcast", {{1}, {8}, {2}, {1}}, of),
            optimal_chunks("broadcast", {{1}, {8}, {8}, {1}}, of));
}

TEST(TwoTree, ASegmentSizeIsAChunkSize) {
  const LogGP& boba = find_preset("boba").loggp;
  EXPECT_DOUBLE_EQ(
      predict(entry_of("broadcast", "two-tree", "loggp"), boba, {16, {8000}, {1000}, {}}).value,
      two_tree_chunks("broadcast", boba, {16, {8000}, {}, {}}, 8).value);
}

TEST(TwoTree, RefusesNoChunks) {
  EXPECT_THROW(two_tree_chunks("broadcast", find_preset("boba").loggp, {4, {9}, {}, {}}, 0),
               InputError);
  EXPECT_THROW(two_tree_chunks("alltoall", find_preset("boba").loggp, {4, {9}, {}, {}}, 1),
               std::invalid_argument);
  EXPECT_THROW(optimal_chunks("broadcast", find_preset("boba").loggp, {0, {9}, {}, {}}),
               InputError);
}

}  // namespace
}  // namespace espalier::cost_models::two_tree_test
