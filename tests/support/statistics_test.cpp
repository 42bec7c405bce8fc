#include "support/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/csv_line.hpp"

namespace espalier::statistics_test {
namespace {

TEST(SpreadOf, IsTheSampleStatistics) {
  // Mean 5, squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, over 7.
  const std::vector<double> sample{2, 4, 4, 4, 5, 5, 7, 9};
  const Spread spread = spread_of(sample);
  EXPECT_EQ(spread.count, 8U);
  EXPECT_DOUBLE_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt(32.0 / 7));
  EXPECT_EQ(spread.least, 2);
}

TEST(SpreadOf, IsNaNWhereUndefined) {
  const Spread none = spread_of({});
  EXPECT_EQ(none.count, 0U);
  EXPECT_TRUE(std::isnan(none.mean) && std::isnan(none.deviation) && std::isnan(none.least));
  const std::vector<double> sample{0.5};
  const Spread one = spread_of(sample);
  EXPECT_EQ(one.mean, 0.5);
  EXPECT_EQ(one.least, 0.5);
  EXPECT_TRUE(std::isnan(one.deviation));
}

TEST(CsvLine, QuotesCellsWithSeparators) {
  EXPECT_EQ(csv_line({"a", "b c", ""}), "a,b c,\n");
  EXPECT_EQ(csv_line({"a,b", "say \"x\"", "two\nlines"}),
            "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}

TEST(Exact, ReadsBackTheSame) {
  for (const double value : {0.1, 1.0 / 3, 1e300, -2.5, 0.0}) {
    EXPECT_EQ(std::stod(exact(value)), value);
  }
  EXPECT_EQ(exact(std::nan("")), "");
}

TEST(Quartiles, InterpolateBetweenFigures) {
  const Quartiles spread = quartiles_of({4, 1, 3, 2});  // quartiles at places 0.75, 1.5, 2.25
  EXPECT_DOUBLE_EQ(spread.least, 1);
  EXPECT_DOUBLE_EQ(spread.lower, 1.75);
  EXPECT_DOUBLE_EQ(spread.median, 2.5);
  EXPECT_DOUBLE_EQ(spread.upper, 3.25);
  EXPECT_DOUBLE_EQ(spread.greatest, 4);
  EXPECT_DOUBLE_EQ(quartiles_of({7}).upper, 7);
  EXPECT_TRUE(std::isnan(quartiles_of({}).median));
}

// Adds these times, in turn, until no more are needed.
SteadyRuns::Result steady_of(const std::vector<double>& times, const SteadyRule& rule = {}) {
  SteadyRuns runs(rule);
  for (std::size_t next = 0; runs.needs_more(); ++next) runs.add(times[next % times.size()]);
  return runs.result();
}

TEST(SteadyRuns, EndAfterTheFewestWithoutTheGreatest) {
  // One of ten is ten times as long: it is left out.
  const SteadyRuns::Result result = steady_of({100, 101, 99, 1000, 100, 101, 99, 100, 101, 99});
  EXPECT_TRUE(result.is_steady);
  EXPECT_EQ(result.runs, 10U);
  EXPECT_EQ(result.kept.count, 9U);
  EXPECT_DOUBLE_EQ(result.kept.mean, 100);
  EXPECT_DOUBLE_EQ(result.kept.deviation, std::sqrt(6.0 / 8));
  EXPECT_EQ(result.kept.least, 99);
  EXPECT_DOUBLE_EQ(result.relative_deviation(), std::sqrt(6.0 / 8) / 100);
}

// A second disturbed run is outweighed by more runs: of n - 1 that are kept, n - 2 take 1 and one
// takes 1.2, a deviation of 0.2 / sqrt(n - 1), below a twentieth of the mean from n = 17 on.
TEST(SteadyRuns, AddRunsUntilTheDeviationIsSmall) {
  std::vector<double> times(20, 1.0);
  times[2] = 1.2;
  times[5] = 1.2;
  const SteadyRuns::Result result = steady_of(times);
  EXPECT_TRUE(result.is_steady);
  EXPECT_EQ(result.runs, 17U);
  EXPECT_LT(result.relative_deviation(), 0.05);
}

// The first attempt has two levels; the second is steady.
TEST(SteadyRuns, BeginAgainAfterTheMost) {
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) times.push_back(i % 2 == 0 ? 1 : 2);
  times.insert(times.end(), 10, 3.0);
  const SteadyRuns::Result result = steady_of(times);
  EXPECT_TRUE(result.is_steady);
  EXPECT_EQ(result.runs, 30U);
  EXPECT_EQ(result.kept.mean, 3);
  EXPECT_EQ(result.kept.deviation, 0);
}

TEST(SteadyRuns, EndWithTheBestAttemptWhereNoneIsSteady) {
  const SteadyRule rule{.fewest = 3, .most = 4, .attempts = 3};
  // Kept: 1, 2, 3; then 1, 1, 2; then 1, 3, 3.
  const SteadyRuns::Result result = steady_of({3, 1, 2, 3, 2, 1, 2, 1, 9, 3, 1, 3}, rule);
  EXPECT_FALSE(result.is_steady);
  EXPECT_EQ(result.runs, 12U);
  EXPECT_DOUBLE_EQ(result.kept.mean, 4.0 / 3);
  EXPECT_DOUBLE_EQ(result.kept.deviation, std::sqrt(1.0 / 3));
}

TEST(SteadyRuns, IgnoreRunsThatAreNotNeeded) {
  SteadyRuns runs;
  for (int i = 0; i < 50; ++i) runs.add(0);
  EXPECT_TRUE(runs.result().is_steady);
  EXPECT_EQ(runs.result().runs, 10U);
  EXPECT_EQ(runs.result().relative_deviation(), 0);
}

}  // namespace
}  // namespace espalier::statistics_test
