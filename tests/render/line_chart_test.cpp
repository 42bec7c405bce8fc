#include "render/charts/line_chart.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <set>
#include <string>

#include "tests/support/xml.hpp"

namespace espalier::render::line_chart_test {
namespace {

using espalier::testing::count_of;
using espalier::testing::xml_fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

LineChart two_lines() {
  return {.title = "rates <fast & slow>",
          .x_label = "nodes",
          .y_label = "\"share\"",
          .series = {{"low", {{10, 0.4, 0.1}, {20, 0.2}}}, {"high", {{10, 0.9, 0.05}, {20, 0.8}}}}};
}

TEST(NiceTicks, AreRoundAndWithinTheRange) {
  EXPECT_THAT(nice_ticks(0, 1, 11), ElementsAre(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1));
  EXPECT_THAT(nice_ticks(0, 1, 6), ElementsAre(0, 0.2, 0.4, 0.6, 0.8, 1));
  EXPECT_THAT(nice_ticks(8, 52, 5), ElementsAre(10, 20, 30, 40, 50));
  EXPECT_THAT(nice_ticks(-3, 4200, 5), ElementsAre(0, 1000, 2000, 3000, 4000));
  EXPECT_THAT(nice_ticks(0.04, 0.2, 4), ElementsAre(0.05, 0.1, 0.15, 0.2));
}

TEST(NiceTicks, AreNeverMoreThanAskedFor) {
  for (const double low : {-17.3, 0.0, 0.001, 5e6}) {
    for (const double width : {1e-3, 0.7, 3.0, 1234.5}) {
      for (std::size_t most = 2; most < 12; ++most) {
        const std::vector<double> ticks = nice_ticks(low, low + width, most);
        EXPECT_LE(ticks.size(), most) << low << ' ' << width;
        for (const double tick : ticks) {
          EXPECT_GE(tick, low - 1e-6 * width);
          EXPECT_LE(tick, low + width * (1 + 1e-6));
        }
      }
    }
  }
}

TEST(LineChartSvg, IsWellFormedWhateverTheTexts) {
  const std::string svg = to_svg(two_lines());
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr("rates &lt;fast &amp; slow&gt;"));
  EXPECT_EQ(count_of(svg, "class=\"series\""), 2U);
  EXPECT_EQ(count_of(svg, "class=\"legend\""), 2U);
  EXPECT_EQ(to_svg(two_lines()), svg);
}

TEST(LineChartSvg, NamesTheHighestLastLineFirst) {
  const std::string svg = to_svg(two_lines());
  EXPECT_LT(svg.find(">high</text>"), svg.find(">low</text>"));
}

TEST(LineChartSvg, DrawsErrorBarsWhereThereAreErrors) {
  LineChart chart = two_lines();
  EXPECT_EQ(count_of(to_svg(chart), "h5.0\""), 2U);
  chart.series[1].points[1].error = 0.1;
  EXPECT_EQ(count_of(to_svg(chart), "h5.0\""), 3U);
  chart.series[1].points[1].error = 0;
  EXPECT_EQ(count_of(to_svg(chart), "h5.0\""), 2U);
}

// Where the first series of a chart begins on the page.
std::string first_point(const LineChart& chart) {
  const std::string svg = to_svg(chart);
  const std::size_t start = svg.find("class=\"line\" d=\"M") + 17;
  return svg.substr(start, svg.find_first_of("L\"", start) - start);
}

TEST(LineChartSvg, ClampsPointsOutsideTheRange) {
  LineChart chart = two_lines();
  chart.y_range = ChartRange{0, 1};
  chart.series[0].points[0].y = 7;
  const std::string beyond = first_point(chart);
  chart.series[0].points[0].y = 1;
  EXPECT_EQ(first_point(chart), beyond);
  chart.series[0].points[0].y = 0.5;
  EXPECT_NE(first_point(chart), beyond);
}

TEST(LineChartSvg, ShiftsSeriesOnlyWhereErrorBarsMayHideEachOther) {
  LineChart chart = two_lines();
  chart.y_range = ChartRange{0, 1};
  const std::string shifted = first_point(chart);
  for (ChartSeries& series : chart.series) series.points[0].error = kNaN;
  const std::string exact = first_point(chart);
  EXPECT_NE(exact, shifted);
  chart.series.pop_back();
  EXPECT_EQ(first_point(chart), exact);
}

TEST(LineChartSvg, InterruptsTheLineAtANonFinitePoint) {
  LineChart chart = two_lines();
  chart.series.pop_back();
  chart.series[0].points = {{1, 0.1}, {2, 0.2}, {3, kNaN}, {4, 0.4}};
  const std::string svg = to_svg(chart);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  const std::size_t start = svg.find("class=\"line\" d=\"");
  const std::string path = svg.substr(start, svg.find("/>", start) - start);
  EXPECT_EQ(count_of(path, "M"), 2U);
  EXPECT_EQ(count_of(path, "L"), 1U);
}

TEST(LineChartSvg, IsValidWithoutData) {
  LineChart chart{.title = "", .x_label = "", .y_label = "", .series = {}};
  EXPECT_EQ(xml_fault(to_svg(chart)), "");
  chart.series.push_back({"nothing", {}});
  EXPECT_EQ(xml_fault(to_svg(chart)), "");
  chart.series.push_back({"one point", {{3, 3}}});
  EXPECT_EQ(xml_fault(to_svg(chart)), "");
}

TEST(LineChartSvg, DistinguishesTwentySeries) {
  LineChart chart = two_lines();
  chart.series.clear();
  for (int s = 0; s < 20; ++s) chart.series.push_back({"s" + std::to_string(s), {{0, 1}, {1, 2}}});
  const std::string svg = to_svg(chart);
  // Colour and dash of the legend's groups.
  std::set<std::string> looks;
  for (std::size_t at = svg.find("\"legend\""); at != std::string::npos;
       at = svg.find("\"legend\"", at + 1)) {
    looks.insert(svg.substr(at, svg.find('>', at) - at));
  }
  EXPECT_EQ(looks.size(), 20U);
}

}  // namespace
}  // namespace espalier::render::line_chart_test
