#include "pictures/legend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "support/drawing.hpp"

namespace espalier::pictures {

Legend::Legend(std::string_view title) {
  rows_ = fmt::format("<TR><TD ALIGN=\"LEFT\"><B><FONT POINT-SIZE=\"15\">{}</FONT></B></TD></TR>",
                      xml_escaped(title));
}

void Legend::add_line(std::string_view text) {
  end_samples();
  rows_ += fmt::format("<TR><TD ALIGN=\"LEFT\">{}</TD></TR>", xml_escaped(text));
}

void Legend::add_bar(std::string_view colour, double width, std::string_view text) {
  // A table that is as thick as the line; without a cell inside it would be none.
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
      fmt::format("<TD>{}</TD><TD ALIGN=\"LEFT\">{}  </TD>", sample, xml_escaped(text)));
}

void Legend::end_samples() {
  constexpr std::size_t kPerRow = 6;
  for (std::size_t begin = 0; begin < samples_.size(); begin += kPerRow) {
    rows_ +=
        "<TR><TD ALIGN=\"LEFT\"><TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLPADDING=\"1\" "
        "CELLSPACING=\"2\"><TR>";
    const std::size_t end = std::min(begin + kPerRow, samples_.size());
    for (std::size_t i = begin; i < end; ++i) rows_ += samples_[i];
    rows_ += "</TR></TABLE></TD></TR>";
  }
  samples_.clear();
}

std::string Legend::html() && {
  end_samples();
  return "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLPADDING=\"1\" CELLSPACING=\"1\">" + rows_ +
         "</TABLE>";
}

}  // namespace espalier::pictures
