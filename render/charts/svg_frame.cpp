#include "render/charts/svg_frame.hpp"

#include <algorithm>

#include "support/xml_text.hpp"

namespace espalier::render {

SvgFrame::SvgFrame(std::string_view title, double plot_height, double legend_width,
                   double legend_height, std::string_view style)
    : plot_height_(plot_height) {
  constexpr double kBelow = 58;
  add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n<style>\n"
      "text {{ font-family: Helvetica, Arial, \"DejaVu Sans\", sans-serif; font-size: 13px; "
      "fill: #222; }}\n.title {{ font-size: 15px; font-weight: bold; }}\n{3}</style>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" rx=\"6\" fill=\"#fff\"/>\n"
      "<text class=\"title\" x=\"{4:.1f}\" y=\"28\">{2}</text>\n",
      right() + legend_width, kPlotTop + std::max(plot_height, legend_height) + kBelow,
      xml_escaped(title), style, kPlotLeft);
}

void SvgFrame::label_x(double x, std::string_view label) {
  add("<text text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, bottom() + 19,
      xml_escaped(label));
}

void SvgFrame::label_y(double y, std::string_view label) {
  add("<text text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kPlotLeft - 8, y + 4.5,
      xml_escaped(label));
}

void SvgFrame::close_plot(std::string_view x_label, std::string_view y_label) {
  add("<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
      kPlotLeft, kPlotTop, kPlotWidth, plot_height_);
  add("<text text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
      (kPlotLeft + right()) / 2, bottom() + 43, xml_escaped(x_label));
  add("<text text-anchor=\"middle\" transform=\"translate(20 {:.1f}) rotate(-90)\">{}</text>\n",
      (kPlotTop + bottom()) / 2, xml_escaped(y_label));
}

void SvgFrame::label_legend(double x, double y, std::string_view label) {
  add("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y, xml_escaped(label));
}

std::string SvgFrame::finish() && {
  return std::move(text_) + "</svg>\n";
}

}  // namespace espalier::render
