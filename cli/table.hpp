// Tables for people, and rows for spreadsheets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::cli {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell a column.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // Title line and rows, columns two spaces apart and as wide as their widest cell; no trailing
  // spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// One line of RFC 4180: cells with a comma, a quote or a line end are quoted.
std::string csv_line(const std::vector<std::string>& cells);

// "0.9877", "-" for a figure that is not there (NaN).
std::string fixed(double value, int decimals);
// "12.34 %".
std::string percent(double fraction);
// The shortest text that reads back as the same number; empty for NaN: for CSV.
std::string exact(double value);

}  // namespace espalier::cli
