// Lists of numbers as an option takes them: "10,20", "10..50:10", "0.04..0.20:0.04", or any of
// these separated by commas.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace espalier::cli {

// One number. Throws InputError (reason only) for what is none, or not finite.
double parse_number(std::string_view text);
// Ascending, each once. A range goes from its first number to its last in steps; each value is what
// its decimal form says ("0.12", not the sum of three 0.04). Throws InputError (reason only) for
// what is no number, a range without a step or that goes nowhere, an empty list, over 100,000
// values.
std::vector<double> parse_numbers(std::string_view text);
// The same, whole and not negative.
std::vector<std::size_t> parse_counts(std::string_view text);

}  // namespace espalier::cli
