#include "render/legend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "support/xml_text.hpp"

namespace espalier::render {

namespace {

// The greatest width in points of a sample and its text, in any sans-serif font of the legend's
// size.
double sample_width(std::string_view text) {
  constexpr double kSample = 42;
  double width = kSample;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x80) width += 7;
    if (code >= 0xC0) width += 12;  // the first byte of another character
  }
  return width;
}

}  // namespace

Legend::Legend(std::string_view title) {
  rows_ = fmt::format("<TR><TD ALIGN=\"LEFT\"><B><FONT POINT-SIZE=\"15\">{}</FONT></B></TD></TR>",
                      xml_escaped(title));
}

void Legend::add_line(std::string_view text) {
  end_samples();
  rows_ += fmt::format("<TR><TD ALIGN=\"LEFT\">{}</TD></TR>", xml_escaped(text));
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
  samples_.push_back(
      {fmt::format("<TD>{}</TD><TD ALIGN=\"LEFT\">{}</TD>", sample, xml_escaped(text)),
       sample_width(text)});
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
