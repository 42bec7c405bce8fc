// Charts of lines with markers and error bars, as self-contained SVG, readable without colours and
// alike in light and dark viewers.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace espalier::render {

struct ChartPoint {
  double x;
  double y;
  double error = std::numeric_limits<double>::quiet_NaN();  // half an error bar; NaN: none
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;  // ascending x; a non-finite point interrupts the line
};

struct ChartRange {
  double low;
  double high;
};

struct ChartTick {
  double value;
  std::string label{};  // empty: the value, with as many decimals as all of them need
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<ChartSeries> series;   // in the order of their colours
  std::vector<ChartTick> x_ticks{};  // empty: nice_ticks
  std::vector<ChartTick> y_ticks{};  // likewise
  std::optional<ChartRange> y_range =
      std::nullopt;  // unset: the range of the data; points outside are clamped
};

// The multiples of 1, 2 or 5 times a power of ten in [low, high], ascending, at most `most` of
// them. Preconditions: most >= 2; low < high, both finite.
std::vector<double> nice_ticks(double low, double high, std::size_t most);

// Returns an SVG document. The legend lists the series in the order of their last points, highest
// first. The same chart gives the same bytes.
std::string to_svg(const LineChart& chart);

}  // namespace espalier::render
