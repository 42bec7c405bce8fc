// The legend of a picture (title, samples, remarks), as a label of the graph. Not installed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::render {

class Legend {
 public:
  explicit Legend(std::string_view title);
  void add_line(std::string_view text);
  // Adds a sample: a bar `width` points thick, or a field. Samples are placed side by side until a
  // row is started or a line is added.
  void add_bar(std::string_view colour, double width, std::string_view text);
  void add_field(std::string_view colour, std::string_view text);
  void start_row() { end_samples(); }
  // The value of an HTML-like label. Call once.
  [[nodiscard]] std::string html() &&;

 private:
  void add_sample(std::string sample, std::string_view text);
  void end_samples();
  struct Sample {
    std::string cells;
    double width;  // points
  };
  std::string rows_;
  std::vector<Sample> samples_;
};

}  // namespace espalier::render
