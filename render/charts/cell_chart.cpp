#include "render/charts/cell_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "render/charts/svg_frame.hpp"

namespace espalier::render {

namespace {

// Pixels.
constexpr double kCellLegendWidth = 210;
constexpr double kRowHeight = 14;
constexpr double kLeastHeight = 200;
constexpr double kMostHeight = 520;
constexpr double kCellLegendStep = 21;
constexpr double kLetter = 7.5;  // upper estimate of a letter's width

constexpr std::string_view kCellStyle =
    ".on-dark { fill: #fff; }\n.cells { shape-rendering: crispEdges; }\n"
    ".border { stroke: #222; stroke-width: 0.7; fill: none; }\n"
    ".frame { stroke: #555; fill: none; }\n";

// Whether white text is more legible on the colour than black text.
bool is_dark(const std::string& colour) {
  unsigned rgb = 0;
  std::from_chars(colour.data() + 1, colour.data() + colour.size(), rgb, 16);
  const double red = (rgb >> 16U) & 0xFFU;
  const double green = (rgb >> 8U) & 0xFFU;
  const double blue = rgb & 0xFFU;
  return 0.299 * red + 0.587 * green + 0.114 * blue < 140;
}

// Adjacent cells of one kind in a row.
struct Run {
  std::size_t row;
  std::size_t first;
  std::size_t last;
  std::size_t kind;
};

class CellDrawing {
 public:
  explicit CellDrawing(const CellChart& chart)
      : chart_(chart),
        edges_(find_edges()),
        runs_(find_runs()),
        numbers_(find_numbers()),
        plot_height_(std::clamp(kRowHeight * static_cast<double>(chart.rows.size()), kLeastHeight,
                                kMostHeight)),
        frame_(chart.title, plot_height_, kCellLegendWidth, legend_height(), kCellStyle) {}

  std::string svg() {
    cells();
    borders();
    axes();
    marks();
    legend();
    return std::move(frame_).finish();
  }

 private:
  // The edges of the columns, in pixels: half way between columns, and as far beyond the outer
  // ones.
  [[nodiscard]] std::vector<double> find_edges() const {
    const std::vector<CellColumn>& columns = chart_.columns;
    const std::size_t count = columns.size();
    std::vector<double> places(count + 1);
    for (std::size_t c = 1; c < count; ++c) {
      places[c] = (columns[c - 1].place + columns[c].place) / 2;
    }
    places[0] = count > 1 ? 2 * columns[0].place - places[1] : columns[0].place - 0.5;
    places[count] =
        count > 1 ? 2 * columns[count - 1].place - places[count - 1] : columns[0].place + 0.5;
    std::vector<double> edges;
    for (const double place : places) {
      edges.push_back(kPlotLeft + kPlotWidth * (place - places[0]) / (places[count] - places[0]));
    }
    return edges;
  }

  [[nodiscard]] std::optional<std::size_t> cell(std::size_t row, std::size_t column) const {
    return chart_.cells[row * chart_.columns.size() + column];
  }

  [[nodiscard]] std::vector<Run> find_runs() const {
    std::vector<Run> runs;
    for (std::size_t r = 0; r < chart_.rows.size(); ++r) {
      for (std::size_t c = 0; c < chart_.columns.size(); ++c) {
        const auto kind = cell(r, c);
        if (!kind) continue;
        if (c > 0 && cell(r, c - 1) == kind) {
          runs.back().last = c;
        } else {
          runs.push_back({r, c, c, *kind});
        }
      }
    }
    return runs;
  }

  [[nodiscard]] std::vector<std::size_t> find_numbers() const {
    std::vector<std::size_t> numbers(chart_.kinds.size(), 0);
    for (const Run& run : runs_) numbers[run.kind] = 1;
    std::size_t used = 0;
    for (std::size_t& number : numbers) {
      if (number != 0) number = ++used;
    }
    return numbers;
  }
  [[nodiscard]] double legend_height() const {
    return numbers_.empty() ? 0 : kCellLegendStep * static_cast<double>(std::ranges::max(numbers_));
  }

  [[nodiscard]] double y_of(std::size_t row) const {  // its upper edge
    return kPlotTop + plot_height_ - row_height() * static_cast<double>(row + 1);
  }
  [[nodiscard]] double row_height() const {
    return plot_height_ / static_cast<double>(chart_.rows.size());
  }
  [[nodiscard]] double width_of(const Run& run) const {
    return edges_[run.last + 1] - edges_[run.first];
  }

  void cells() {
    frame_.add("<g class=\"cells\">\n");
    for (const Run& run : runs_) {
      frame_.add(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
          edges_[run.first], y_of(run.row), width_of(run), row_height(),
          chart_.kinds[run.kind].colour);
    }
    frame_.add("</g>\n");
  }

  // Lines between cells of different kinds.
  void borders() {
    std::string path;
    const auto out = std::back_inserter(path);
    const std::size_t columns = chart_.columns.size();
    for (std::size_t r = 0; r < chart_.rows.size(); ++r) {
      for (std::size_t c = 1; c < columns; ++c) {
        if (cell(r, c) == cell(r, c - 1)) continue;
        fmt::format_to(out, "M{:.2f},{:.2f}v{:.2f}", edges_[c], y_of(r), row_height());
      }
      for (std::size_t c = 0; r > 0 && c < columns; ++c) {
        if (cell(r, c) == cell(r - 1, c)) continue;
        fmt::format_to(out, "M{:.2f},{:.2f}H{:.2f}", edges_[c], y_of(r - 1), edges_[c + 1]);
      }
    }
    if (!path.empty()) frame_.add("<path class=\"border\" d=\"{}\"/>\n", path);
  }

  [[nodiscard]] double middle_of(std::size_t column) const {
    return (edges_[column] + edges_[column + 1]) / 2;
  }

  // The least distance between labelled columns at which labels do not overlap.
  [[nodiscard]] std::size_t label_step() const {
    const std::size_t count = chart_.columns.size();
    const auto half = [&](std::size_t c) {
      return kLetter * (static_cast<double>(chart_.columns[c].label.size()) + 1) / 2;
    };
    for (std::size_t step = 1; step < count; ++step) {
      bool fits = true;
      for (std::size_t c = step; c < count; c += step) {
        fits = fits && middle_of(c) - half(c) >= middle_of(c - step) + half(c - step);
      }
      if (fits) return step;
    }
    return count;
  }

  void axes() {
    const std::size_t column_step = label_step();
    for (std::size_t c = 0; c < chart_.columns.size(); c += column_step) {
      const double x = middle_of(c);
      frame_.add("<path class=\"frame\" d=\"M{:.1f},{:.1f}v5\"/>", x, frame_.bottom());
      frame_.label_x(x, chart_.columns[c].label);
    }
    const auto step = static_cast<std::size_t>(std::ceil(kRowHeight / row_height()));
    for (std::size_t r = 0; r < chart_.rows.size(); r += step) {
      const double y = y_of(r) + row_height() / 2;
      frame_.add("<path class=\"frame\" d=\"M{:.1f},{:.1f}h-5\"/>", kPlotLeft, y);
      frame_.label_y(y, chart_.rows[r]);
    }
    frame_.close_plot(chart_.x_label, chart_.y_label);
  }

  // Prints the number of a kind in the middle of its longest run; of several longest ones, the
  // middle.
  void marks() {
    for (std::size_t kind = 0; kind < chart_.kinds.size(); ++kind) {
      std::vector<const Run*> longest;
      for (const Run& run : runs_) {
        if (run.kind != kind) continue;
        const double most = longest.empty() ? 0 : width_of(*longest.front());
        constexpr double kSlack = 0.01;
        if (width_of(run) > most + kSlack) longest.clear();
        if (longest.empty() || width_of(run) > most - kSlack) longest.push_back(&run);
      }
      if (longest.empty()) continue;
      const Run& run = *longest[longest.size() / 2];
      number(kind, (edges_[run.first] + edges_[run.last + 1]) / 2,
             y_of(run.row) + row_height() / 2);
    }
  }

  void number(std::size_t kind, double x, double y) {
    frame_.add("<text{} text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
               is_dark(chart_.kinds[kind].colour) ? " class=\"on-dark\"" : "", x, y + 4.5,
               numbers_[kind]);
  }

  void legend() {
    constexpr double kSample = 26;
    const double x = frame_.right() + 14;
    double y = kPlotTop;
    for (std::size_t kind = 0; kind < chart_.kinds.size(); ++kind) {
      if (numbers_[kind] == 0) continue;
      frame_.add(
          "<rect class=\"legend\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"16\" "
          "fill=\"{}\" stroke=\"#555\"/>",
          x, y, kSample, chart_.kinds[kind].colour);
      number(kind, x + kSample / 2, y + 8);
      frame_.label_legend(x + kSample + 7, y + 12.5, chart_.kinds[kind].name);
      y += kCellLegendStep;
    }
  }

  const CellChart& chart_;
  std::vector<double> edges_;  // of the columns, left to right; one more than there are columns
  std::vector<Run> runs_;      // row by row
  std::vector<std::size_t> numbers_;  // by kind, from 1; 0: no cell
  double plot_height_;
  SvgFrame frame_;
};

}  // namespace

std::string to_svg(const CellChart& chart) {
  return CellDrawing(chart).svg();
}

}  // namespace espalier::render
