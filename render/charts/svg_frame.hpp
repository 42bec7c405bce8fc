// What all charts have in common, as self-contained SVG: a background of their own, so that they
// look the same in light and dark viewers, a title, and a plot with labelled axes.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace espalier::render {

// Pixels.
inline constexpr double kPlotLeft = 66;
inline constexpr double kPlotTop = 48;
inline constexpr double kPlotWidth = 534;

class SvgFrame {
 public:
  // The legend is to the right of the plot. style: CSS rules of the chart's own classes.
  SvgFrame(std::string_view title, double plot_height, double legend_width, double legend_height,
           std::string_view style);

  [[nodiscard]] static double right() { return kPlotLeft + kPlotWidth; }
  [[nodiscard]] double bottom() const { return kPlotTop + plot_height_; }

  template <typename... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Values>(values)...);
  }
  void label_x(double x, std::string_view label);  // of a tick
  void label_y(double y, std::string_view label);
  void close_plot(std::string_view x_label, std::string_view y_label);
  void label_legend(double x, double y, std::string_view label);
  // The document. Call once.
  [[nodiscard]] std::string finish() &&;

 private:
  double plot_height_;
  std::string text_;
};

}  // namespace espalier::render
