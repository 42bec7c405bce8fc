// Charts of a plane of coloured cells with a legend, as SVG that stands alone, in the looks of
// line_chart.hpp. Each kind of cell has a number too, at its longest row of cells, so that the
// chart reads without colour.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

struct CellKind {
  std::string name;
  std::string colour;  // "#rrggbb"
};

struct CellColumn {
  double place;       // on the x axis, in any unit; ascending
  std::string label;  // of its tick
};

struct CellChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<CellColumn> columns;
  std::vector<std::string> rows;  // labels of the ticks, from the bottom up
  std::vector<CellKind> kinds;    // in the order of the legend; those without a cell are left out
  // Of row r and column c at r * columns.size() + c: an index into kinds; unset: nothing is drawn.
  std::vector<std::optional<std::size_t>> cells;
};

// A whole SVG document. A cell goes half way to its neighbours; ticks are labelled as far as there
// is room. The same chart gives the same bytes.
// Preconditions: at least one row and column; as many cells as these make.
std::string to_svg(const CellChart& chart);

}  // namespace espalier
