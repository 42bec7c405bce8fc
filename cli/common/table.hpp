// Tables as text, and (csv_line, exact) rows of CSV.
#pragma once

#include <string>
#include <vector>

#include "support/csv_line.hpp"    // IWYU pragma: export
#include "support/quantities.hpp"  // IWYU pragma: export

namespace espalier::cli {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // Title line and rows, columns two spaces apart and as wide as their widest cell; no trailing
  // spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// "12.34 %"; "-" for a missing figure (NaN).
std::string percent(double fraction);

}  // namespace espalier::cli
