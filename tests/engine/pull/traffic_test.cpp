#include "engine/pull/traffic.hpp"

#include <gtest/gtest.h>

#include <random>

namespace espalier::testing::traffic_test {
namespace {

using engine::pull::Traffic;

constexpr double kBin_s = Traffic::kFirstBin_s;

TEST(Traffic, SpreadsASegmentOverItsTime) {
  Traffic traffic(2);
  traffic.note(1, 400, 0.5 * kBin_s, 2.5 * kBin_s);
  EXPECT_NEAR(traffic.at(0, 1).bytes, 100, 1e-9);
  EXPECT_NEAR(traffic.at(1, 1).bytes, 200, 1e-9);
  EXPECT_NEAR(traffic.at(2, 1).bytes, 100, 1e-9);
  EXPECT_NEAR(traffic.at(1, 1).busy_s, kBin_s, 1e-12);
  EXPECT_NEAR(traffic.at(2, 1).busy_s, kBin_s / 2, 1e-12);
  EXPECT_EQ(traffic.at(1, 0).bytes, 0);
  EXPECT_DOUBLE_EQ(traffic.end_s(), 2.5 * kBin_s);
}

// Arrivals that are found at the same time, and a clock that is slightly off.
TEST(Traffic, TakesSegmentsWithoutATime) {
  Traffic traffic(1);
  traffic.note(0, 100, kBin_s / 2, kBin_s / 2);
  traffic.note(0, 100, -1, kBin_s / 2);
  traffic.note(0, 100, -2, -1);
  EXPECT_NEAR(traffic.at(0, 0).bytes, 200, 1e-9);
}

TEST(Traffic, KeepsEveryByteWhenBinsDouble) {
  std::mt19937_64 random(7);
  Traffic traffic(3);
  double bytes = 0;
  double now_s = 0;
  for (int i = 0; i < 2000; ++i) {
    const double begin_s = now_s;
    now_s += static_cast<double>(random() % 1000) * 1e-6;
    traffic.note(random() % 3, 100, begin_s, now_s);
    bytes += 100;
  }
  EXPECT_GT(traffic.bin_s(), kBin_s);
  EXPECT_GE(static_cast<double>(Traffic::kMostBins) * traffic.bin_s(), now_s);
  double kept = 0;
  for (std::size_t bin = 0; bin < Traffic::kMostBins; ++bin) {
    for (std::size_t source = 0; source < 3; ++source) {
      kept += traffic.at(bin, source).bytes;
      EXPECT_LE(traffic.at(bin, source).busy_s, traffic.bin_s() * (1 + 1e-9));
    }
  }
  EXPECT_NEAR(kept, bytes, 1e-6);
}

}  // namespace
}  // namespace espalier::testing::traffic_test
