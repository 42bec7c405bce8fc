#include "planner/plan/slice_dealer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "planner/plan/slice_grid.hpp"

namespace espalier::planner {
namespace {

std::vector<double> random_rates(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> rates(1 + random() % 40);
  for (double& rate : rates) rate = std::pow(10.0, static_cast<double>(random() % 7000) / 1000);
  return rates;
}

TEST(SliceDealer, OneTreeGetsAll) {
  const SliceDealer dealer(std::vector{3.5e9});
  for (const std::uint64_t slice : {0UL, 1UL, 77UL, 1UL << 40}) {
    EXPECT_EQ(dealer.tree_of(slice), 0U);
    EXPECT_EQ(dealer.slice_of(0, slice), slice);
    EXPECT_EQ(dealer.count(0, slice), slice);
  }
}

TEST(SliceDealer, EqualTreesTakeTurns) {
  const SliceDealer dealer(std::vector{2.0, 2.0, 2.0});
  EXPECT_THAT(dealer.weights(), ::testing::Each(dealer.weights()[0]));
  for (std::uint64_t round = 0; round < 100; ++round) {
    std::vector<std::size_t> trees;
    for (std::uint64_t i = 0; i < 3; ++i) trees.push_back(dealer.tree_of(3 * round + i));
    EXPECT_THAT(trees, ::testing::UnorderedElementsAre(0, 1, 2));
  }
}

TEST(SliceDealer, SharesFollowTheRates) {
  const std::vector<double> rates = {6.0e7, 3.1e7};
  const SliceDealer dealer(rates);
  constexpr std::uint64_t kSlices = 1'000'000;
  EXPECT_NEAR(static_cast<double>(dealer.count(0, kSlices)) / kSlices, 60.0 / 91, 1e-4);
}

TEST(SliceDealer, ATinyRateStillGetsAShareAndHugeOnesDoNotOverflow) {
  const SliceDealer dealer(std::vector{1e308, 1e308, 1e-300});
  for (std::size_t tree = 0; tree < 3; ++tree) EXPECT_GE(dealer.weights()[tree], 1U);
  EXPECT_LE(dealer.weights()[2], 1U);
}

// 100 and 50 bytes a second, the second 4 s farther. 10 s carry 1000 and 300 bytes, 13 slices of
// 100 bytes: both for 6 s, then the first alone for 4 s.
TEST(SliceDealer, FartherTreesEndEarlier) {
  SliceDealer dealer(std::vector{100.0, 50.0}, std::vector{1.0, 5.0});
  EXPECT_EQ(dealer.count(1, 13), 4U);
  dealer.end_at(13, {100});
  EXPECT_EQ(dealer.count(0, 13), 10U);
  EXPECT_EQ(dealer.count(1, 13), 3U);
  for (std::uint64_t slice = 9; slice < 13; ++slice) EXPECT_EQ(dealer.tree_of(slice), 0U);
  // Three seconds are over before the second would have brought anything.
  dealer.end_at(3, {100});
  EXPECT_EQ(dealer.count(0, 3), 3U);
  EXPECT_EQ(dealer.count(1, 3), 0U);
  dealer.end_at(0, {100});  // an empty message
  EXPECT_EQ(dealer.count(0, 0) + dealer.count(1, 0), 0U);
}

TEST(SliceDealer, TreesThatLagAlikeEndTogether) {
  const std::vector<double> rates{3, 2, 2};
  const SliceDealer endless(rates);
  SliceDealer dealer(rates, std::vector{0.5, 0.5, 0.5});
  dealer.end_at(1000, {1});
  for (std::uint64_t slice = 0; slice < 1000; ++slice) {
    EXPECT_EQ(dealer.tree_of(slice), endless.tree_of(slice));
  }
}

// Each slice is one tree's, in order; each tree has what its rate carries before its lag begins, to
// within some slices; and one message after another leaves nothing of the first.
TEST(SliceDealer, ADealThatEndsIsOneToOne) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<double> rates = random_rates(seed);
    std::vector<double> lags_s(rates.size());
    for (double& lag : lags_s) lag = static_cast<double>(random() % 300) / 1000;
    SliceDealer dealer(rates, lags_s);
    SliceDealer again(rates, lags_s);
    for (const std::uint64_t slices : {1UL, 7UL, 1'000UL, 40'000UL}) {
      const Bytes slice{1 + random() % 4000};
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << slices << " slices");
      dealer.end_at(slices, slice);
      again.end_at(slices, slice);
      std::vector<std::uint64_t> dealt(rates.size(), 0);
      for (std::uint64_t k = 0; k < slices; ++k) {
        const std::size_t tree = dealer.tree_of(k);
        ASSERT_EQ(again.tree_of(k), tree);
        ASSERT_EQ(dealer.count(tree, k), dealt[tree]);
        ASSERT_EQ(dealer.slice_of(tree, dealt[tree]), k);
        ++dealt[tree];
      }
      double earliest = std::numeric_limits<double>::infinity();
      double latest = 0;
      for (std::size_t tree = 0; tree < rates.size(); ++tree) {
        ASSERT_EQ(dealer.count(tree, slices), dealt[tree]);
        EXPECT_GE(dealer.slice_of(tree, dealt[tree]), slices);
        EXPECT_GT(dealer.slice_of(tree, dealt[tree] + 1), dealer.slice_of(tree, dealt[tree]));
        // A slice more or less than what it can carry, and a share rounded for the period.
        const auto bytes = static_cast<double>(slice.value);
        const double slack = 2 + 0.01 * static_cast<double>(slices);
        const auto whole = static_cast<double>(dealt[tree]);
        if (dealt[tree] == 0) continue;  // farther than the message lasts
        latest = std::max(latest, lags_s[tree] + (whole - slack) * bytes / rates[tree]);
        earliest = std::min(earliest, lags_s[tree] + (whole + slack) * bytes / rates[tree]);
      }
      EXPECT_LE(latest, earliest);
    }
  }
}

TEST(SliceDealer, CountsAreKeptInEachPeriod) {
  const std::vector<std::uint64_t> counts{6, 0, 2, 1};
  const SliceDealer dealer = SliceDealer::of_counts(counts);
  for (std::uint64_t period = 1; period < 5; ++period) {
    for (std::size_t tree = 0; tree < 4; ++tree) {
      EXPECT_EQ(dealer.count(tree, 9 * period), counts[tree] * period);
    }
  }
  for (std::uint64_t slice = 0; slice < 40; ++slice) {
    const std::size_t tree = dealer.tree_of(slice);
    EXPECT_EQ(dealer.slice_of(tree, dealer.count(tree, slice)), slice);
  }
}

class RandomRates : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomRates, EveryPrefixIsWithinOneSliceOfItsShare) {
  const SliceDealer dealer(random_rates(GetParam()));
  const std::uint64_t period =
      std::accumulate(dealer.weights().begin(), dealer.weights().end(), std::uint64_t{0});
  std::vector<std::uint64_t> counts(dealer.trees(), 0);
  for (std::uint64_t k = 1; k <= 2 * period + 3; ++k) {
    ++counts[dealer.tree_of(k - 1)];
    for (std::size_t tree = 0; tree < counts.size(); ++tree) {
      // |count - k w / P| < 1, in integers.
      const auto off = static_cast<std::int64_t>(counts[tree] * period) -
                       static_cast<std::int64_t>(k * dealer.weights()[tree]);
      ASSERT_LT(std::abs(off), static_cast<std::int64_t>(period)) << "tree " << tree << ", k " << k;
    }
  }
}

TEST_P(RandomRates, WeightsAreTheRatesToHalfASliceOfThePeriodOrOneSlice) {
  const std::vector<double> rates = random_rates(GetParam());
  const SliceDealer dealer(rates);
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  const double period = std::accumulate(dealer.weights().begin(), dealer.weights().end(), 0.0);
  for (std::size_t tree = 0; tree < rates.size(); ++tree) {
    const double share = rates[tree] / sum;
    EXPECT_NEAR(dealer.weights()[tree] / period, share, 3e-3) << "tree " << tree;
  }
}

TEST_P(RandomRates, TheThreeQuestionsAgree) {
  const SliceDealer dealer(random_rates(GetParam()));
  std::vector<std::uint64_t> counts(dealer.trees(), 0);
  for (std::uint64_t slice = 0; slice < 40000; ++slice) {
    const std::size_t tree = dealer.tree_of(slice);
    ASSERT_EQ(dealer.count(tree, slice), counts[tree]);
    ASSERT_EQ(dealer.slice_of(tree, counts[tree]), slice);
    ++counts[tree];
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRates, ::testing::Range<std::uint64_t>(1, 31));

TEST(SliceGrid, TheLastSliceIsWhatIsLeft) {
  EXPECT_EQ((SliceGrid{0, 10}.count()), 0U);
  EXPECT_EQ((SliceGrid{1, 10}.count()), 1U);
  EXPECT_EQ((SliceGrid{10, 10}.count()), 1U);
  EXPECT_EQ((SliceGrid{11, 10}.count()), 2U);
  EXPECT_EQ((SliceGrid{11, 10}.length(0)), 10U);
  EXPECT_EQ((SliceGrid{11, 10}.length(1)), 1U);
  EXPECT_EQ((SliceGrid{11, 10}.offset(1)), 10U);
  EXPECT_EQ((SliceGrid{UINT64_MAX, UINT64_MAX}.count()), 1U);
}

}  // namespace
}  // namespace espalier::planner
