// Charts of coloured cells with a legend, as self-contained SVG in the style of line_chart.hpp.
// Each kind of cell also has a number, printed in its longest row of cells, so that the chart can
// be read without colour.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace espalier::render {

struct CellKind {
  std::string name;
  std::string colour;  // "#rrggbb"
};

struct CellColumn {
  double place;       // position on the x axis, in any unit; ascending
  std::string label;  // of its tick
};

struct CellChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<CellColumn> columns;
  std::vector<std::string> rows;  // labels of the ticks, from the bottom up
  std::vector<CellKind> kinds;    // in the order of the legend, which omits those without a cell
  // Row r, column c at r * columns.size() + c: an index into kinds; unset: nothing is drawn.
  std::vector<std::optional<std::size_t>> cells;
};

// Returns an SVG document. Cells extend half way to their neighbours; ticks are labelled if the
// labels fit. The same chart gives the same bytes. Preconditions: at least one row and one column;
// cells.size() is their product.
std::string to_svg(const CellChart& chart);

}  // namespace espalier::render
