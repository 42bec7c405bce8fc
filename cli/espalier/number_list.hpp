// Lists of numbers in options: "10,20", "10..50:10", "0.04..0.20:0.04", or several of these
// separated by commas.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "support/quantities.hpp"

namespace espalier::cli {

// One number. Throws InputError (reason only) if the text is not a finite number.
double parse_number(std::string_view text);
// Sorted, without duplicates. A range is FIRST..LAST:STEP; its values are rounded to decimals
// (0.12, not the sum of three 0.04). Throws InputError (reason only) for text that is not a number,
// a range without a step or that does not ascend, an empty list, and more than 100,000 values.
std::vector<double> parse_numbers(std::string_view text);
// The same for whole numbers that are not negative.
std::vector<std::size_t> parse_counts(std::string_view text);
// The same; a range without a step ("3..32") has step 1.
std::vector<std::size_t> parse_counts_by_one(std::string_view text);

// Sizes with units, separated by commas: "0,1KiB,8MiB". Each may be a range: "1..8MiB" doubles,
// "1KiB..1MiB:4" multiplies by 4. Sorted, without duplicates. Throws InputError (reason only) for
// text that is not a size, a range that starts at 0 or does not ascend, a factor outside 1.01 to
// 1e6, and more than 10,000 sizes.
std::vector<Bytes> parse_sizes(std::string_view text);

}  // namespace espalier::cli
