#include "cli/common/readers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/text.hpp"

namespace espalier::cli {

namespace {

constexpr double kMostValues = 100'000;
constexpr std::size_t kMostSizes = 10'000;

double parse_element(std::string_view text) {
  if (const auto value = espalier::parse_number(text)) return *value;
  throw InputError(
      fmt::format("{} is not a number; give a list such as 10,20 or 10..50:10", in_quotes(text)));
}

// Rounds to twelve digits, which removes the rounding errors of sums.
double as_written(double value) {
  return parse_element(fmt::format("{:.12g}", value));
}

void add_range(std::string_view text, std::size_t dots, std::vector<double>& values) {
  const std::size_t colon = text.find(':', dots);
  if (colon == std::string_view::npos) {
    throw InputError(
        fmt::format("range {} has no step; write it as in 10..50:10", in_quotes(text)));
  }
  const double first = parse_element(text.substr(0, dots));
  const double last = parse_element(text.substr(dots + 2, colon - dots - 2));
  const double step = parse_element(text.substr(colon + 1));
  constexpr double kSlack = 1e-9;
  const double steps = std::floor((last - first) / step + kSlack);
  if (!(step > 0) || !(steps >= 0)) {
    throw InputError(fmt::format("range {} must ascend, with a step above 0", in_quotes(text)));
  }
  if (steps >= kMostValues) throw InputError(fmt::format("range {} is too long", in_quotes(text)));
  const auto count = static_cast<std::size_t>(steps) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(as_written(first + static_cast<double>(i) * step));
  }
}

void add_sizes(std::string_view text, std::size_t dots, std::vector<Bytes>& sizes) {
  const std::size_t colon = std::min(text.find(':', dots), text.size());
  const Bytes first = parse_size(text.substr(0, dots));
  const Bytes last = parse_size(text.substr(dots + 2, colon - dots - 2));
  const double factor = colon < text.size() ? parse_element(text.substr(colon + 1)) : 2;
  constexpr double kLeastFactor = 1.01;
  constexpr double kMostFactor = 1e6;
  if (first.value == 0 || last < first || factor < kLeastFactor || factor > kMostFactor) {
    throw InputError(
        fmt::format("range {} must ascend from 1 byte or more, by a factor of 1.01 to "
                    "1e6",
                    in_quotes(text)));
  }
  const auto end = static_cast<double>(last.value);
  for (auto size = static_cast<double>(first.value); size <= end; size *= factor) {
    // Above 2^53 rounding may exceed the end of the range.
    sizes.push_back(std::min(Bytes{static_cast<std::uint64_t>(std::llround(size))}, last));
  }
}

}  // namespace

std::size_t parse_count(std::string_view text) {
  if (const auto count = parse_whole<std::size_t>(text)) return *count;
  throw InputError(fmt::format("{} is not a whole number", in_quotes(text)));
}

BytesPerSecond read_positive_rate(std::string_view text) {
  const BytesPerSecond rate = parse_rate(text);
  if (!(rate.value > 0)) throw InputError("must be above zero");
  return rate;
}

Seconds read_duration(std::string_view text) {
  const bool has_unit =
      text.empty() || (text.back() != '.' && (text.back() < '0' || text.back() > '9'));
  return has_unit ? parse_duration(text) : Seconds{parse_number(text)};
}

Seconds read_positive_duration(std::string_view text) {
  const Seconds duration = read_duration(text);
  if (!(duration.value > 0)) throw InputError("must be above zero");
  return duration;
}

Seconds read_span(std::string_view text) {
  const Seconds span = read_duration(text);
  if (!(span.value >= 0) || !std::isfinite(span.value)) throw InputError("must not be negative");
  return span;
}

Bytes read_nonempty_size(std::string_view text) {
  const Bytes size = parse_size(text);
  if (size.value == 0) throw InputError("must be at least one byte");
  return size;
}

std::size_t place_of(std::string_view kind, std::string_view text,
                     std::span<const std::string_view> names) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) throw InputError(unknown_name(kind, text, names));
  return static_cast<std::size_t>(found - names.begin());
}

std::string one_of(std::span<const std::string_view> names) {
  return fmt::format("one of: {}", fmt::join(names, ", "));
}

std::string Quantity<double>::show(double value) {
  return fmt::format("{}", value);
}

double parse_number(std::string_view text) {
  if (const auto value = espalier::parse_number(text)) return *value;
  throw InputError(fmt::format("{} is not a number", in_quotes(text)));
}

std::vector<double> parse_numbers(std::string_view text) {
  std::vector<double> values;
  for (const std::string_view one : split(text, ',')) {
    const std::size_t dots = one.find("..");
    if (dots == std::string::npos) {
      values.push_back(as_written(parse_element(one)));
    } else {
      add_range(one, dots, values);
    }
  }
  return in_order(std::move(values));
}

std::vector<std::size_t> parse_counts(std::string_view text) {
  std::vector<std::size_t> counts;
  for (const double value : parse_numbers(text)) {
    constexpr double kMost = 1e9;
    if (!(value >= 0 && value <= kMost) || value != std::floor(value)) {
      throw InputError(fmt::format("{} is not a whole number from 0 to 1e9", value));
    }
    counts.push_back(static_cast<std::size_t>(value));
  }
  return counts;
}

std::vector<std::size_t> parse_counts_by_one(std::string_view text) {
  std::string stepped;
  for (const std::string_view one : split(text, ',')) {
    const bool lacks_step =
        one.find("..") != std::string_view::npos && one.find(':') == std::string_view::npos;
    stepped += fmt::format("{}{}{}", stepped.empty() ? "" : ",", one, lacks_step ? ":1" : "");
  }
  return parse_counts(stepped);
}

std::vector<Bytes> parse_sizes(std::string_view text) {
  std::vector<Bytes> sizes;
  for (const std::string_view one : split(text, ',')) {
    const std::size_t dots = one.find("..");
    if (dots == std::string_view::npos) {
      sizes.push_back(parse_size(one));
    } else {
      add_sizes(one, dots, sizes);
    }
    if (sizes.size() > kMostSizes) throw InputError("more than 10000 sizes");
  }
  return in_order(std::move(sizes));
}

}  // namespace espalier::cli
