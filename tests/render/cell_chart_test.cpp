#include "render/charts/cell_chart.hpp"

#include <gmock/gmock.h>

#include <string>

#include "render/charts/colours.hpp"
#include "tests/support/xml.hpp"

namespace espalier::render::cell_chart_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

//   8   B B .
//   4   A B B      "C" is in the legend's list, but in no cell
//       1 2 4
CellChart small() {
  return {.title = "best <of all>",
          .x_label = "message",
          .y_label = "\"ranks\"",
          .columns = {{0, "1 B"}, {1, "2 B"}, {2, "4 B"}},
          .rows = {"4", "8"},
          .kinds = {{"A & a", "#000000"}, {"B", "#ffffff"}, {"C", "#123456"}},
          .cells = {0, 1, 1, 1, 1, std::nullopt}};
}

TEST(CellChartSvg, IsWellFormedWhateverTheTexts) {
  const std::string svg = to_svg(small());
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr("best &lt;of all&gt;"));
  EXPECT_THAT(svg, HasSubstr("A &amp; a"));
  EXPECT_EQ(to_svg(small()), svg);
}

TEST(CellChartSvg, LegendListsOnlyKindsThatHaveCells) {
  const std::string svg = to_svg(small());
  EXPECT_EQ(count_of(svg, "class=\"legend\""), 2U);
  EXPECT_THAT(svg, Not(HasSubstr("#123456")));
}

// The plot is 534 wide and 200 high: three columns of 178, two rows of 100, the first at the
// bottom.
TEST(CellChartSvg, AdjacentCellsOfAKindAreOneRectangle) {
  const std::string svg = to_svg(small());
  EXPECT_THAT(svg, HasSubstr("<rect x=\"66.00\" y=\"148.00\" width=\"178.00\" height=\"100.00\" "
                             "fill=\"#000000\"/>"));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"244.00\" y=\"148.00\" width=\"356.00\" height=\"100.00\" "
                             "fill=\"#ffffff\"/>"));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"66.00\" y=\"48.00\" width=\"356.00\" height=\"100.00\" "
                             "fill=\"#ffffff\"/>"));
  EXPECT_EQ(count_of(svg, "fill=\"#ffffff\"/>"), 2U);
}

TEST(CellChartSvg, CellsGoHalfWayToTheirNeighbours) {
  CellChart chart = small();
  chart.columns = {{0, "1 B"}, {1, "2 B"}, {10, "1 KiB"}};  // edges at -0.5, 0.5, 5.5, 14.5
  EXPECT_THAT(to_svg(chart), HasSubstr("<rect x=\"66.00\" y=\"148.00\" width=\"35.60\""));
}

TEST(CellChartSvg, NumbersAreLegibleOnDarkAndOnLight) {
  const std::string svg = to_svg(small());
  EXPECT_EQ(count_of(svg, "class=\"on-dark\""), 2U);  // A in its cell and in the legend
}

TEST(CellChartSvg, OneCellAndManyAreDrawn) {
  CellChart one{.title = "t",
                .x_label = "x",
                .y_label = "y",
                .columns = {{-1, "0 B"}},
                .rows = {"2"},
                .kinds = {{"A", "#000000"}},
                .cells = {0}};
  EXPECT_EQ(xml_fault(to_svg(one)), "");
  EXPECT_THAT(to_svg(one), HasSubstr("width=\"534.00\""));
  one.rows.assign(1000, "n");
  one.cells.assign(1000, 0);
  const std::string svg = to_svg(one);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_LE(count_of(svg, ">n</text>"), 520U / 14 + 1);  // as many as fit
}

TEST(CellChartSvg, TicksAreLabelledEvenlyIfLabelsFit) {
  CellChart chart = small();
  chart.columns.clear();
  chart.cells.clear();
  for (int c = 0; c < 24; ++c) {
    chart.columns.push_back({static_cast<double>(c), "label" + std::to_string(c) + "."});
    chart.cells.insert(chart.cells.end(), {0, 1});
  }
  // A column is 22.25 wide, a label at most 60 and a gap 7.5: every fourth label fits.
  const std::string svg = to_svg(chart);
  for (int c = 0; c < 24; ++c) {
    EXPECT_EQ(count_of(svg, "label" + std::to_string(c) + "."), c % 4 == 0 ? 1U : 0U) << c;
  }
}

TEST(Tint, GoesFromAColourToWhite) {
  EXPECT_EQ(tint("#0072b2", 0), "#0072b2");
  EXPECT_EQ(tint("#0072b2", 1), "#ffffff");
  EXPECT_EQ(tint("#000a64", 0.5), "#8085b2");
}

}  // namespace
}  // namespace espalier::render::cell_chart_test
