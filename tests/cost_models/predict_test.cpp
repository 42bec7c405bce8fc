// Choosing among segments and algorithms.
#include "cost_models/formulas/predict.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cost_models/formulas/two_tree.hpp"
#include "support/errors.hpp"
#include "tests/cost_models/networks.hpp"

namespace espalier::cost_models::predict_test {
namespace {

TEST(Predict, UsualSegmentsAreThePowersOfTwoBelowTheMessage) {
  const auto sizes = [](std::uint64_t message) {
    std::vector<std::uint64_t> values;
    for (const Bytes size : usual_segments({message})) values.push_back(size.value);
    return values;
  };
  EXPECT_THAT(sizes(0), ::testing::ElementsAre(0));
  EXPECT_THAT(sizes(64), ::testing::ElementsAre(0));
  EXPECT_THAT(sizes(300), ::testing::ElementsAre(0, 64, 128, 256));
  EXPECT_EQ(sizes(UINT64_MAX).size(), 1U + 58U);
}

TEST(Predict, TheBestSegmentIsTheBestOfThoseGiven) {
  for (const FormulaEntry& entry : formulas()) {
    const Case of{24, {100'000}, {}, {1e-9}};
    const std::vector<Bytes> segments = usual_segments(of.message);
    const Prediction best = best_segment(entry, frodo(entry.model()), of, segments);
    EXPECT_EQ(predict(entry, frodo(entry.model()), best.of), best.time) << name_of(entry);
    for (const Bytes size : segments) {
      Case tried = of;
      tried.segment = size;
      EXPECT_LE(best.time, predict(entry, frodo(entry.model()), tried)) << name_of(entry);
    }
    EXPECT_TRUE(entry.segments || best.of.segment.value == 0) << name_of(entry);
  }
}

TEST(Predict, TwoTreeAlsoTriesItsOwnChunks) {
  const FormulaEntry& entry = entry_of("broadcast", "two-tree", "loggp");
  const Case of{16, {1 << 20}, {}, {}};
  const Prediction best = best_segment(entry, frodo("loggp"), of, std::vector<Bytes>{{0}});
  EXPECT_EQ(best.of.segment, optimal_chunk_size("broadcast", find_preset("frodo").loggp, of));
}

TEST(Predict, SegmentsAsLargeAsTheMessageCountAsUncut) {
  const FormulaEntry& entry = entry_of("broadcast", "pipeline", "loggp");
  const Prediction best =
      best_segment(entry, frodo("loggp"), {16, {1024}, {}, {}}, std::vector<Bytes>{{1024}});
  EXPECT_EQ(best.of.segment.value, 0U);
}

TEST(Predict, RefusesEmptyChoicesAndOtherModels) {
  const FormulaEntry& entry = entry_of("broadcast", "linear", "loggp");
  EXPECT_THROW(best_segment(entry, frodo("loggp"), {4, {1}, {}, {}}, {}), InputError);
  EXPECT_THROW(predict(entry, frodo("plogp"), {4, {1}, {}, {}}), std::invalid_argument);
}

}  // namespace
}  // namespace espalier::cost_models::predict_test
