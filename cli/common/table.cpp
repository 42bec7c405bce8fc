#include "cli/common/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

// Code points: the width on a terminal, except for wide and combining characters.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

std::string Table::text() const {
  std::vector<std::vector<std::string>> lines;
  lines.emplace_back();
  for (const Column& column : columns_) lines.front().push_back(column.title);
  for (const std::vector<std::string>& row : rows_) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::string& cell : row) line.push_back(printable(cell));
  }
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      widths[c] = std::max(widths[c], width_of(line[c]));
    }
  }
  std::string result;
  for (const std::vector<std::string>& line : lines) {
    std::string row;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string padding(widths[c] - width_of(line[c]), ' ');
      if (c > 0) row += "  ";
      row += columns_[c].align == Align::kLeft ? line[c] + padding : padding + line[c];
    }
    row.erase(row.find_last_not_of(' ') + 1);
    result += row + '\n';
  }
  return result;
}

std::string percent(double fraction) {
  return std::isnan(fraction) ? "-" : fixed(100 * fraction, 2) + " %";
}

}  // namespace espalier::cli
