// What the charts have in common: head, frame and titles of the axes. Not installed.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace espalier {

class ChartDrawing {
 protected:
  static constexpr double kLeft = 66;
  static constexpr double kTop = 48;
  static constexpr double kBottom = 58;

  template <typename... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Values>(values)...);
  }
  // The document up to the title; `style` is CSS in addition to that of text.
  void open(const std::string& title, double width, double height, std::string_view style);
  // A label of a tick on the x axis, whose `bottom` is given, or on the y axis.
  void add_x_label(double x, double bottom, std::string_view label);
  void add_y_label(double y, std::string_view label);
  // The frame of the plot and the titles of its axes.
  void add_frame(double width, double height, const std::string& x_label,
                 const std::string& y_label);
  void add_legend_text(double x, double y, const std::string& text);

  std::string text_;
};

}  // namespace espalier
