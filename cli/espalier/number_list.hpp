// Lists of numbers as an option takes them: "10,20", "10..50:10", "0.04..0.20:0.04", or any of
// these separated by commas.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "support/quantities.hpp"

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
// The same with steps of 1 where a range has none: "3..32".
std::vector<std::size_t> parse_counts_by_one(std::string_view text);

// Sizes with units, separated by commas: "0,1KiB,8MiB", each of which may be a range that goes from
// its first size by doubling as far as its second, or by the factor behind a colon:
// "1..8MiB", "1KiB..1MiB:4". Ascending, each once. Throws InputError (reason only) for what is no
// size, a range from 0 or downwards, a factor that is not 1.01 to 1e6, over 10,000 sizes.
std::vector<Bytes> parse_sizes(std::string_view text);

}  // namespace espalier::cli
