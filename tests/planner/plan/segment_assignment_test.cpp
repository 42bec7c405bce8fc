#include "planner/plan/segment_assignment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "planner/plan/segment_grid.hpp"

namespace espalier::planner::segment_assignment_test {
namespace {

std::vector<double> random_rates(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> rates(1 + random() % 40);
  for (double& rate : rates) rate = std::pow(10.0, static_cast<double>(random() % 7000) / 1000);
  return rates;
}

TEST(SegmentAssignment, OneTreeGetsAll) {
  const SegmentAssignment assignment(std::vector{3.5e9});
  for (const std::uint64_t segment : {0UL, 1UL, 77UL, 1UL << 40}) {
    EXPECT_EQ(assignment.tree_of(segment), 0U);
    EXPECT_EQ(assignment.segment_of(0, segment), segment);
    EXPECT_EQ(assignment.count(0, segment), segment);
  }
}

TEST(SegmentAssignment, EqualTreesTakeTurns) {
  const SegmentAssignment assignment(std::vector{2.0, 2.0, 2.0});
  EXPECT_THAT(assignment.weights(), ::testing::Each(assignment.weights()[0]));
  for (std::uint64_t round = 0; round < 100; ++round) {
    std::vector<std::size_t> trees;
    for (std::uint64_t i = 0; i < 3; ++i) trees.push_back(assignment.tree_of(3 * round + i));
    EXPECT_THAT(trees, ::testing::UnorderedElementsAre(0, 1, 2));
  }
}

TEST(SegmentAssignment, SharesFollowTheRates) {
  const std::vector<double> rates = {6.0e7, 3.1e7};
  const SegmentAssignment assignment(rates);
  constexpr std::uint64_t kSegments = 1'000'000;
  EXPECT_NEAR(static_cast<double>(assignment.count(0, kSegments)) / kSegments, 60.0 / 91, 1e-4);
}

TEST(SegmentAssignment, ATinyRateStillGetsAShareAndHugeOnesDoNotOverflow) {
  const SegmentAssignment assignment(std::vector{1e308, 1e308, 1e-300});
  for (std::size_t tree = 0; tree < 3; ++tree) EXPECT_GE(assignment.weights()[tree], 1U);
  EXPECT_LE(assignment.weights()[2], 1U);
}

// 100 and 50 bytes per second, the second with 4 s more latency. 10 s carry 1000 and 300 bytes, 13
// segments of 100 bytes: both trees for 6 s, then only the first for 4 s.
TEST(SegmentAssignment, TreesOfHigherLatencyEndEarlier) {
  SegmentAssignment assignment(std::vector{100.0, 50.0}, std::vector{1.0, 5.0});
  EXPECT_EQ(assignment.count(1, 13), 4U);
  assignment.end_at(13, {100});
  EXPECT_EQ(assignment.count(0, 13), 10U);
  EXPECT_EQ(assignment.count(1, 13), 3U);
  for (std::uint64_t segment = 9; segment < 13; ++segment)
    EXPECT_EQ(assignment.tree_of(segment), 0U);
  // Three seconds are over before the second tree would have delivered anything.
  assignment.end_at(3, {100});
  EXPECT_EQ(assignment.count(0, 3), 3U);
  EXPECT_EQ(assignment.count(1, 3), 0U);
  assignment.end_at(0, {100});  // an empty message
  EXPECT_EQ(assignment.count(0, 0) + assignment.count(1, 0), 0U);
}

// Its table would fill the memory.
TEST(SegmentAssignment, AnEndOfVeryManySegmentsIsNone) {
  SegmentAssignment assignment(std::vector{100.0, 50.0}, std::vector{1.0, 5e12});
  constexpr std::uint64_t kMany = 3'000'000'000'000;
  assignment.end_at(kMany, {1});
  EXPECT_EQ(assignment.count(0, kMany), kMany / 3 * 2);
  EXPECT_EQ(assignment.count(1, kMany), kMany / 3);
}

TEST(SegmentAssignment, TreesOfEqualLagEndAtTheSameTime) {
  const std::vector<double> rates{3, 2, 2};
  const SegmentAssignment endless(rates);
  SegmentAssignment assignment(rates, std::vector{0.5, 0.5, 0.5});
  assignment.end_at(1000, {1});
  for (std::uint64_t segment = 0; segment < 1000; ++segment) {
    EXPECT_EQ(assignment.tree_of(segment), endless.tree_of(segment));
  }
}

// Each segment belongs to one tree, in order; each tree has what its rate carries before its lag
// begins, to within some segments; and a second message is not affected by the first.
TEST(SegmentAssignment, AnAssignmentThatEndsIsOneToOne) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<double> rates = random_rates(seed);
    std::vector<double> lags_s(rates.size());
    for (double& lag : lags_s) lag = static_cast<double>(random() % 300) / 1000;
    SegmentAssignment assignment(rates, lags_s);
    SegmentAssignment again(rates, lags_s);
    for (const std::uint64_t segments : {1UL, 7UL, 1'000UL, 40'000UL}) {
      const Bytes segment{1 + random() % 4000};
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << segments << " segments");
      assignment.end_at(segments, segment);
      again.end_at(segments, segment);
      std::vector<std::uint64_t> assigned(rates.size(), 0);
      for (std::uint64_t k = 0; k < segments; ++k) {
        const std::size_t tree = assignment.tree_of(k);
        ASSERT_EQ(again.tree_of(k), tree);
        ASSERT_EQ(assignment.count(tree, k), assigned[tree]);
        ASSERT_EQ(assignment.segment_of(tree, assigned[tree]), k);
        ++assigned[tree];
      }
      double earliest = std::numeric_limits<double>::infinity();
      double latest = 0;
      for (std::size_t tree = 0; tree < rates.size(); ++tree) {
        ASSERT_EQ(assignment.count(tree, segments), assigned[tree]);
        EXPECT_GE(assignment.segment_of(tree, assigned[tree]), segments);
        EXPECT_GT(assignment.segment_of(tree, assigned[tree] + 1),
                  assignment.segment_of(tree, assigned[tree]));
        // A segment more or less than what it can carry, and a share rounded for the period.
        const auto bytes = static_cast<double>(segment.value);
        const double slack = 2 + 0.01 * static_cast<double>(segments);
        const auto whole = static_cast<double>(assigned[tree]);
        if (assigned[tree] == 0) continue;  // its latency exceeds the time of the message
        latest = std::max(latest, lags_s[tree] + (whole - slack) * bytes / rates[tree]);
        earliest = std::min(earliest, lags_s[tree] + (whole + slack) * bytes / rates[tree]);
      }
      EXPECT_LE(latest, earliest);
    }
  }
}

TEST(SegmentAssignment, CountsAreKeptInEachPeriod) {
  const std::vector<std::uint64_t> counts{6, 0, 2, 1};
  const SegmentAssignment assignment = SegmentAssignment::of_counts(counts);
  for (std::uint64_t period = 1; period < 5; ++period) {
    for (std::size_t tree = 0; tree < 4; ++tree) {
      EXPECT_EQ(assignment.count(tree, 9 * period), counts[tree] * period);
    }
  }
  for (std::uint64_t segment = 0; segment < 40; ++segment) {
    const std::size_t tree = assignment.tree_of(segment);
    EXPECT_EQ(assignment.segment_of(tree, assignment.count(tree, segment)), segment);
  }
}

class RandomRates : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomRates, EveryPrefixIsWithinOneSegmentOfItsShare) {
  const SegmentAssignment assignment(random_rates(GetParam()));
  const std::uint64_t period =
      std::accumulate(assignment.weights().begin(), assignment.weights().end(), std::uint64_t{0});
  std::vector<std::uint64_t> counts(assignment.trees(), 0);
  for (std::uint64_t k = 1; k <= 2 * period + 3; ++k) {
    ++counts[assignment.tree_of(k - 1)];
    for (std::size_t tree = 0; tree < counts.size(); ++tree) {
      // |count - k w / P| < 1, in integers.
      const auto off = static_cast<std::int64_t>(counts[tree] * period) -
                       static_cast<std::int64_t>(k * assignment.weights()[tree]);
      ASSERT_LT(std::abs(off), static_cast<std::int64_t>(period)) << "tree " << tree << ", k " << k;
    }
  }
}

TEST_P(RandomRates, WeightsAreTheRatesToHalfASegmentOfThePeriodOrOneSegment) {
  const std::vector<double> rates = random_rates(GetParam());
  const SegmentAssignment assignment(rates);
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  const double period =
      std::accumulate(assignment.weights().begin(), assignment.weights().end(), 0.0);
  for (std::size_t tree = 0; tree < rates.size(); ++tree) {
    const double share = rates[tree] / sum;
    EXPECT_NEAR(assignment.weights()[tree] / period, share, 3e-3) << "tree " << tree;
  }
}

TEST_P(RandomRates, TreeOfSegmentOfAndCountAgree) {
  const SegmentAssignment assignment(random_rates(GetParam()));
  std::vector<std::uint64_t> counts(assignment.trees(), 0);
  for (std::uint64_t segment = 0; segment < 40000; ++segment) {
    const std::size_t tree = assignment.tree_of(segment);
    ASSERT_EQ(assignment.count(tree, segment), counts[tree]);
    ASSERT_EQ(assignment.segment_of(tree, counts[tree]), segment);
    ++counts[tree];
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRates, ::testing::Range<std::uint64_t>(1, 31));

TEST(SegmentGrid, TheLastSegmentIsTheRest) {
  EXPECT_EQ((SegmentGrid{0, 10}.count()), 0U);
  EXPECT_EQ((SegmentGrid{1, 10}.count()), 1U);
  EXPECT_EQ((SegmentGrid{10, 10}.count()), 1U);
  EXPECT_EQ((SegmentGrid{11, 10}.count()), 2U);
  EXPECT_EQ((SegmentGrid{11, 10}.length(0)), 10U);
  EXPECT_EQ((SegmentGrid{11, 10}.length(1)), 1U);
  EXPECT_EQ((SegmentGrid{11, 10}.offset(1)), 10U);
  EXPECT_EQ((SegmentGrid{UINT64_MAX, UINT64_MAX}.count()), 1U);
}

}  // namespace
}  // namespace espalier::planner::segment_assignment_test
