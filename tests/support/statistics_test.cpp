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

}  // namespace
}  // namespace espalier::statistics_test
