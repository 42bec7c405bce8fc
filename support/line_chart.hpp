// Charts of lines with markers and error bars, as SVG that stands alone: text stays text, colours
// are told apart with any colour vision and, thanks to markers and dashes, without colour; the
// chart has a ground of its own, so that it reads the same in light and dark viewers.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

struct ChartPoint {
  double x;
  double y;
  double error = std::numeric_limits<double>::quiet_NaN();  // half an error bar; NaN: none
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;  // ascending x; a point that is not finite interrupts the line
};

struct ChartRange {
  double low;
  double high;
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<ChartSeries> series;  // in the order of their colours
  std::vector<double> x_ticks{};    // empty: nice ones
  std::optional<ChartRange> y_range =
      std::nullopt;  // unset: what the data need; outside it is cut off
};

// Multiples of 1, 2 or 5 times a power of ten, ascending: few enough to be at most `most` (>= 2),
// within [low, high], low < high, both finite.
std::vector<double> nice_ticks(double low, double high, std::size_t most);

// A whole SVG document. The legend names the series in the order of their last points, highest
// first. The same chart gives the same bytes.
std::string to_svg(const LineChart& chart);

}  // namespace espalier
