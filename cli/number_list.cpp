#include "cli/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "support/errors.hpp"

namespace espalier::cli {

namespace {

constexpr double kMostValues = 100'000;

bool is_number(std::string_view text, double& value) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

double parse_element(std::string_view text) {
  double value = 0;
  if (is_number(text, value)) return value;
  throw InputError(
      fmt::format("{} is no number; wanted is a list such as 10,20 or 10..50:10", in_quotes(text)));
}

// Twelve digits: what people write, without the last bits of sums.
double as_written(double value) {
  return parse_element(fmt::format("{:.12g}", value));
}

void add_range(std::string_view text, std::size_t dots, std::vector<double>& values) {
  const std::size_t colon = text.find(':', dots);
  if (colon == std::string_view::npos) {
    throw InputError(fmt::format("range {} has no step, as in 10..50:10", in_quotes(text)));
  }
  const double first = parse_element(text.substr(0, dots));
  const double last = parse_element(text.substr(dots + 2, colon - dots - 2));
  const double step = parse_element(text.substr(colon + 1));
  constexpr double kSlack = 1e-9;
  const double steps = std::floor((last - first) / step + kSlack);
  if (!(step > 0) || !(steps >= 0)) {
    throw InputError(fmt::format("range {} must ascend in steps over 0", in_quotes(text)));
  }
  if (steps >= kMostValues) throw InputError(fmt::format("range {} is too long", in_quotes(text)));
  const auto count = static_cast<std::size_t>(steps) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(as_written(first + static_cast<double>(i) * step));
  }
}

}  // namespace

double parse_number(std::string_view text) {
  double value = 0;
  if (is_number(text, value)) return value;
  throw InputError(fmt::format("{} is no number", in_quotes(text)));
}

std::vector<double> parse_numbers(std::string_view text) {
  std::vector<double> values;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string_view one = text.substr(start, comma - start);
    const std::size_t dots = one.find("..");
    if (dots == std::string_view::npos) {
      values.push_back(as_written(parse_element(one)));
    } else {
      add_range(one, dots, values);
    }
    start = comma + 1;
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<std::size_t> parse_counts(std::string_view text) {
  std::vector<std::size_t> counts;
  for (const double value : parse_numbers(text)) {
    constexpr double kMost = 1e9;
    if (!(value >= 0 && value <= kMost) || value != std::floor(value)) {
      throw InputError(fmt::format("{} is no whole number from 0 to 1e9", value));
    }
    counts.push_back(static_cast<std::size_t>(value));
  }
  return counts;
}

}  // namespace espalier::cli
