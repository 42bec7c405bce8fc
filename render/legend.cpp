#include "render/legend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "support/xml_text.hpp"

namespace espalier::render {

namespace {

// The greatest width in points of a text in the legend's size, in any sans-serif font: Graphviz
// measures a narrower font than some viewers have, and what is wider would be cut off at the edge.
double greatest_width(std::string_view text) {
  double width = 0;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x80) width += 7;
    if (code >= 0xC0) width += 12;  // the first byte of another character
  }
  return width;
}

}  // namespace

Legend::Legend(std::string_view title) {
  constexpr double kLarger = 1.5 * 1.1;  // and bold
  rows_ = fmt::format(
      "<TR><TD ALIGN=\"LEFT\" WIDTH=\"{:.0f}\"><B><FONT POINT-SIZE=\"15\">{}</FONT></B></TD></TR>",
      kLarger * greatest_width(title), xml_escaped(title));
}

void Legend::add_line(std::string_view text) {
  end_samples();
  rows_ += fmt::format("<TR><TD ALIGN=\"LEFT\" WIDTH=\"{:.0f}\">{}</TD></TR>", greatest_width(text),
                       xml_escaped(text));
}

void Legend::add_bar(std::string_view colour, double width, std::string_view text) {
  // A table as thick as the line. Graphviz requires a cell in it.
  add_sample(fmt::format("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLPADDING=\"0\" CELLSPACING=\"0\" "
                         "FIXEDSIZE=\"TRUE\" WIDTH=\"26\" HEIGHT=\"{:.0f}\" BGCOLOR=\"{}\">"
                         "<TR><TD></TD></TR></TABLE>",
                         std::max(1.0, width), colour),
             text);
}

void Legend::add_field(std::string_view colour, std::string_view text) {
  add_sample(fmt::format("<TABLE BORDER=\"1\" COLOR=\"#555555\" CELLBORDER=\"0\" CELLPADDING=\"0\" "
                         "CELLSPACING=\"0\" FIXEDSIZE=\"TRUE\" WIDTH=\"18\" HEIGHT=\"11\" "
                         "BGCOLOR=\"{}\"><TR><TD></TD></TR></TABLE>",
                         colour),
             text);
}

void Legend::add_sample(std::string sample, std::string_view text) {
  constexpr double kSampleAndGap = 50;
  samples_.push_back({fmt::format("<TD>{}</TD><TD ALIGN=\"LEFT\" WIDTH=\"{:.0f}\">{}</TD>", sample,
                                  greatest_width(text), xml_escaped(text)),
                      kSampleAndGap + greatest_width(text)});
}

// Each row has a fixed size; otherwise Graphviz would stretch it to the width of the longest line.
void Legend::end_samples() {
  constexpr double kWidest = 560;
  constexpr double kHeight = 20;
  for (std::size_t next = 0; next < samples_.size();) {
    std::string cells;
    double width = 0;
    while (next < samples_.size() && (width == 0 || width + samples_[next].width <= kWidest)) {
      cells += samples_[next].cells;
      width += samples_[next++].width;
    }
    rows_ += fmt::format(
        "<TR><TD ALIGN=\"LEFT\"><TABLE ALIGN=\"LEFT\" BORDER=\"0\" CELLBORDER=\"0\" "
        "CELLPADDING=\"1\" "
        "CELLSPACING=\"2\" FIXEDSIZE=\"TRUE\" WIDTH=\"{:.0f}\" "
        "HEIGHT=\"{:.0f}\"><TR>{}</TR></TABLE>"
        "</TD></TR>",
        width, kHeight, cells);
  }
  samples_.clear();
}

std::string Legend::html() && {
  end_samples();
  return "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLPADDING=\"1\" CELLSPACING=\"1\">" + rows_ +
         "</TABLE>";
}

}  // namespace espalier::render
