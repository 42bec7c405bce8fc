#include "render/charts/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "render/charts/colours.hpp"
#include "render/charts/svg_frame.hpp"

namespace espalier::render {

namespace {

// Pixels.
constexpr double kLegendWidth = 190;
constexpr double kPlotHeight = 354;
constexpr double kLegendStep = 20;
constexpr double kMarker = 4.2;  // radius

constexpr std::string_view kStyle =
    ".grid { stroke: #ddd; }\n.frame { stroke: #555; fill: none; }\n"
    ".bars { stroke-width: 1; stroke-dasharray: none; opacity: 0.45; }\n"
    ".line { stroke-width: 1.8; fill: none; }\n"
    ".markers { stroke-width: 1.5; stroke-dasharray: none; }\n"
    ".hollow { fill: #fff; }\n.stroke { fill: none; stroke-width: 2; }\n";
constexpr std::array<std::string_view, 3> kDashes{"", "7 3", "2 3"};
// Combinations of seven colours and eight markers repeat only after 56 series.
constexpr std::size_t kMarkers = 8;

bool finite(const ChartPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

struct Place {
  double x;
  double y;
};

// A closed figure with its corners at these offsets, in marker radii.
std::string polygon(Place at, std::initializer_list<Place> corners) {
  std::string points;
  for (const Place& corner : corners) {
    points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", at.x + kMarker * corner.x,
                          at.y + kMarker * corner.y);
  }
  return fmt::format("<polygon points=\"{}\"/>", points);
}

// Filled markers in the group's colour, then hollow ones, so that the first eight series differ
// most.
std::string marker(std::size_t series, Place at) {
  switch (series % kMarkers) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", at.x, at.y, kMarker);
    case 1:
      return polygon(at, {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case 2:
      return polygon(at, {{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
    case 3:
      return polygon(at, {{0, -1.3}, {1.1, 0}, {0, 1.3}, {-1.1, 0}});
    case 4:
      return polygon(at, {{0, 1.2}, {1.1, -0.8}, {-1.1, -0.8}});
    case 5:
      return fmt::format("<circle class=\"hollow\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>",
                         at.x, at.y, kMarker);
    case 6:
      return fmt::format(
          "<path class=\"stroke\" d=\"M{:.1f},{:.1f}l{:.1f},{:.1f}m0,{:.1f}l{:.1f},{:.1f}\"/>",
          at.x - kMarker, at.y - kMarker, 2 * kMarker, 2 * kMarker, -2 * kMarker, -2 * kMarker,
          2 * kMarker);
    default:
      return fmt::format(
          "<path class=\"stroke\" d=\"M{:.1f},{:.1f}h{:.1f}m{:.1f},{:.1f}v{:.1f}\"/>",
          at.x - 1.2 * kMarker, at.y, 2.4 * kMarker, -1.2 * kMarker, -1.2 * kMarker, 2.4 * kMarker);
  }
}

std::string group_of(std::size_t series) {
  const std::string_view colour = kSeriesColours[series % kSeriesColours.size()];
  const std::string_view dash = kDashes[series / kSeriesColours.size() % kDashes.size()];
  return fmt::format("stroke=\"{0}\" fill=\"{0}\"{1}", colour,
                     dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
}

std::vector<ChartTick> labelled(std::vector<ChartTick> ticks) {
  constexpr int kMostDecimals = 6;
  int decimals = 0;
  const auto exact_enough = [&](const ChartTick& tick) {
    const double scale = std::pow(10.0, decimals);
    return std::abs(std::round(tick.value * scale) / scale - tick.value) <=
           1e-9 * std::max(1.0, std::abs(tick.value));
  };
  while (decimals < kMostDecimals && !std::all_of(ticks.begin(), ticks.end(), exact_enough)) {
    ++decimals;
  }
  for (ChartTick& tick : ticks) {
    if (tick.label.empty()) tick.label = fmt::format("{:.{}f}", tick.value, decimals);
  }
  return ticks;
}

ChartRange widened(ChartRange range) {
  if (range.low > range.high) return {0, 1};  // no data
  if (range.low == range.high) return {range.low - 0.5, range.high + 0.5};
  return range;
}

class LineDrawing {
 public:
  explicit LineDrawing(const LineChart& chart)
      : chart_(chart),
        x_(x_range()),
        y_(y_range()),
        step_(step_of_series()),
        plot_height_(std::max(kPlotHeight, static_cast<double>(chart.series.size()) * kLegendStep)),
        frame_(chart.title, plot_height_, kLegendWidth, 0, kStyle) {
    const double margin = 0.05 * (x_.high - x_.low);  // keeps markers away from the frame
    x_.low -= margin;
    x_.high += margin;
  }

  std::string svg() {
    axes();
    // Error bars are drawn below all lines, lines below all markers.
    for (std::size_t s = 0; s < chart_.series.size(); ++s) error_bars(s);
    for (std::size_t s = 0; s < chart_.series.size(); ++s) line(s);
    legend();
    return std::move(frame_).finish();
  }

 private:
  ChartRange x_range() const {
    ChartRange range{INFINITY, -INFINITY};
    for (const ChartSeries& series : chart_.series) {
      for (const ChartPoint& point : series.points) {
        if (!finite(point)) continue;
        range = {std::min(range.low, point.x), std::max(range.high, point.x)};
      }
    }
    return widened(range);
  }

  ChartRange y_range() const {
    if (chart_.y_range) return *chart_.y_range;
    ChartRange range{INFINITY, -INFINITY};
    for (const ChartSeries& series : chart_.series) {
      for (const ChartPoint& point : series.points) {
        if (!finite(point)) continue;
        const double bar = std::isfinite(point.error) ? point.error : 0;
        range = {std::min(range.low, point.y - bar), std::max(range.high, point.y + bar)};
      }
    }
    return widened(range);
  }

  [[nodiscard]] double x_of(double x) const {
    return kPlotLeft + (x - x_.low) / (x_.high - x_.low) * kPlotWidth;
  }
  [[nodiscard]] double y_of(double y) const {
    const double inside = std::clamp(y, y_.low, y_.high);
    return frame_.bottom() - (inside - y_.low) / (y_.high - y_.low) * plot_height_;
  }
  // Shifts series that share an x, so that error bars do not hide each other.
  [[nodiscard]] double x_of(double x, std::size_t series) const {
    const auto count = static_cast<double>(chart_.series.size());
    return x_of(x) + step_ * (static_cast<double>(series) - (count - 1) / 2);
  }
  // Between successive series that share an x, in pixels; 0 without error bars.
  [[nodiscard]] double step_of_series() const {
    constexpr double kMostStep = 2.4;
    constexpr double kMostSpread = 30;
    const bool has_bars = std::ranges::any_of(chart_.series, [](const ChartSeries& series) {
      return std::ranges::any_of(series.points, [](const ChartPoint& point) {
        return std::isfinite(point.error) && point.error > 0;
      });
    });
    if (!has_bars) return 0;
    return std::min(kMostStep, kMostSpread / static_cast<double>(chart_.series.size()));
  }

  void axes() {
    const auto ticks_of = [](std::vector<ChartTick> ticks, ChartRange range, std::size_t most) {
      if (ticks.empty()) {
        for (const double nice : nice_ticks(range.low, range.high, most)) ticks.push_back({nice});
      }
      return labelled(std::move(ticks));
    };
    for (const auto& [value, label] : ticks_of(chart_.x_ticks, x_, 8)) {
      const double x = x_of(value);
      frame_.add(
          "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>", x,
          kPlotTop, frame_.bottom());
      frame_.label_x(x, label);
    }
    for (const auto& [value, label] : ticks_of(chart_.y_ticks, y_, 11)) {
      const double y = y_of(value);
      frame_.add(
          "<line class=\"grid\" x1=\"{1:.1f}\" y1=\"{0:.1f}\" x2=\"{2:.1f}\" y2=\"{0:.1f}\"/>", y,
          kPlotLeft, frame_.right());
      frame_.label_y(y, label);
    }
    frame_.close_plot(chart_.x_label, chart_.y_label);
  }

  void error_bars(std::size_t s) {
    constexpr double kCap = 2.5;
    frame_.add("<g class=\"bars\" {}>", group_of(s));
    for (const ChartPoint& point : chart_.series[s].points) {
      if (!finite(point) || !std::isfinite(point.error) || !(point.error > 0)) continue;
      const double x = x_of(point.x, s);
      const double low = y_of(point.y - point.error);
      const double high = y_of(point.y + point.error);
      frame_.add(
          "<path d=\"M{0:.1f},{1:.1f}V{2:.1f}M{3:.1f},{1:.1f}h{4:.1f}M{3:.1f},{2:.1f}h{4:.1f}\"/>",
          x, low, high, x - kCap, 2 * kCap);
    }
    frame_.add("</g>\n");
  }

  void line(std::size_t s) {
    std::string path;
    std::string markers;
    bool down = false;
    for (const ChartPoint& point : chart_.series[s].points) {
      if (!finite(point)) {
        down = false;
        continue;
      }
      const Place at{x_of(point.x, s), y_of(point.y)};
      path += fmt::format("{}{:.1f},{:.1f}", down ? 'L' : 'M', at.x, at.y);
      markers += marker(s, at);
      down = true;
    }
    frame_.add("<g class=\"series\" {}>", group_of(s));
    if (!path.empty()) frame_.add("<path class=\"line\" d=\"{}\"/>", path);
    frame_.add("<g class=\"markers\">{}</g></g>\n", markers);
  }

  [[nodiscard]] double last_of(std::size_t series) const {
    const std::vector<ChartPoint>& points = chart_.series[series].points;
    const auto last = std::find_if(points.rbegin(), points.rend(), finite);
    return last == points.rend() ? -INFINITY : last->y;
  }

  void legend() {
    std::vector<std::size_t> order(chart_.series.size());
    for (std::size_t s = 0; s < order.size(); ++s) order[s] = s;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return last_of(a) > last_of(b); });
    constexpr double kSample = 30;
    const double x = frame_.right() + 14;
    double y = kPlotTop + 8;
    for (const std::size_t s : order) {
      frame_.add(
          "<g class=\"legend\" {}><path class=\"line\" d=\"M{:.1f},{:.1f}h{:.0f}\"/>"
          "<g class=\"markers\">{}</g></g>",
          group_of(s), x, y, kSample, marker(s, {x + kSample / 2, y}));
      frame_.label_legend(x + kSample + 7, y + 4.5, chart_.series[s].name);
      y += kLegendStep;
    }
  }

  const LineChart& chart_;
  ChartRange x_;
  ChartRange y_;
  double step_;
  double plot_height_;
  SvgFrame frame_;
};

}  // namespace

std::vector<double> nice_ticks(double low, double high, std::size_t most) {
  const double rough = (high - low) / static_cast<double>(most);
  const double power = std::floor(std::log10(rough));
  // Ticks are integers divided by a power of ten, not multiplied by 0.1, so that 0.3 is the nearest
  // double to it.
  for (double exponent = power;; ++exponent) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double up = exponent >= 0 ? factor * std::pow(10.0, exponent) : factor;
      const double down = exponent >= 0 ? 1.0 : std::pow(10.0, -exponent);
      constexpr double kSlack = 1e-9;
      const double first = std::ceil(low * down / up - kSlack);
      const double last = std::floor(high * down / up + kSlack);
      if (last - first + 1 > static_cast<double>(most)) continue;
      std::vector<double> ticks(static_cast<std::size_t>(std::max(0.0, last - first + 1)));
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        // Adding 0 turns the minus zero of ceil into a zero.
        ticks[i] = (first + static_cast<double>(i)) * up / down + 0.0;
      }
      return ticks;
    }
  }
}

std::string to_svg(const LineChart& chart) {
  return LineDrawing(chart).svg();
}

}  // namespace espalier::render
