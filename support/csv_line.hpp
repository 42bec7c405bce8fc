// Rows of CSV files, and lossless text for numbers in them.
#pragma once

#include <string>
#include <vector>

namespace espalier {

// One line of RFC 4180: cells with a comma, a quote or a line end are quoted.
std::string csv_line(const std::vector<std::string>& cells);

// The shortest text that reads back as the same number; empty for NaN.
std::string exact(double value);

}  // namespace espalier
