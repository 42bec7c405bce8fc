#include "support/csv_line.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>

namespace espalier {

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) line += ',';
    if (cells[c].find_first_of(",\"\r\n") == std::string::npos) {
      line += cells[c];
      continue;
    }
    line += '"';
    for (const char letter : cells[c]) line += letter == '"' ? "\"\"" : std::string(1, letter);
    line += '"';
  }
  return line + '\n';
}

std::string exact(double value) {
  return std::isnan(value) ? std::string{} : fmt::format("{}", value);
}

}  // namespace espalier
