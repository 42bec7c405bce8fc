#include "support/chart_drawing.hpp"

#include "support/xml_text.hpp"

namespace espalier {

void ChartDrawing::open(const std::string& title, double width, double height,
                        std::string_view style) {
  add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n",
      width, height, xml_escaped(title));
  add("<style>\n"
      "text {{ font-family: Helvetica, Arial, \"DejaVu Sans\", sans-serif; font-size: 13px; "
      "fill: #222; }}\n"
      ".title {{ font-size: 15px; font-weight: bold; }}\n"
      "{}</style>\n",
      style);
  add("<rect width=\"{:.0f}\" height=\"{:.0f}\" rx=\"6\" fill=\"#fff\"/>\n", width, height);
  add("<text class=\"title\" x=\"{:.1f}\" y=\"28\">{}</text>\n", kLeft, xml_escaped(title));
}

void ChartDrawing::add_x_label(double x, double bottom, std::string_view label) {
  add("<text text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, bottom + 19,
      xml_escaped(label));
}

void ChartDrawing::add_y_label(double y, std::string_view label) {
  add("<text text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kLeft - 8, y + 4.5,
      xml_escaped(label));
}

void ChartDrawing::add_frame(double width, double height, const std::string& x_label,
                             const std::string& y_label) {
  add("<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
      kLeft, kTop, width, height);
  add("<text text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kLeft + width / 2,
      kTop + height + 43, xml_escaped(x_label));
  add("<text text-anchor=\"middle\" transform=\"translate(20 {:.1f}) rotate(-90)\">{}</text>\n",
      kTop + height / 2, xml_escaped(y_label));
}

void ChartDrawing::add_legend_text(double x, double y, const std::string& text) {
  add("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y, xml_escaped(text));
}

}  // namespace espalier
