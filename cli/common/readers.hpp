// How the texts of options are read into values, and how values are shown as defaults in help.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/choice.hpp"
#include "support/quantities.hpp"
#include "support/text.hpp"

namespace espalier::cli {

// Readers of one value. All readers throw InputError (reason only).
double parse_number(std::string_view text);      // finite
std::size_t parse_count(std::string_view text);  // whole
BytesPerSecond read_positive_rate(std::string_view text);
Seconds read_duration(std::string_view text);           // a number without a unit: seconds
Seconds read_positive_duration(std::string_view text);  // likewise
Seconds read_span(std::string_view text);               // likewise; finite, not negative
Bytes read_nonempty_size(std::string_view text);        // at least one byte

// The place of `text` in `names`. kind: a noun for the refusal.
std::size_t place_of(std::string_view kind, std::string_view text,
                     std::span<const std::string_view> names);
// A reader of an enumeration whose enumerators have these names, in their order.
template <class Enum>
auto one_named(std::string_view kind, std::span<const std::string_view> names) {
  return [kind, names](std::string_view text) {
    return static_cast<Enum>(place_of(kind, text, names));
  };
}
// A reader of one of these names, as text.
inline auto among(std::string_view kind, std::vector<std::string_view> names) {
  return [kind, names = std::move(names)](std::string_view text) {
    return std::string(names[place_of(kind, text, names)]);
  };
}
// "one of: a, b, c", for help.
std::string one_of(std::span<const std::string_view> names);

// Sorted, without duplicates.
template <class Value>
std::vector<Value> in_order(std::vector<Value> values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Numbers separated by commas, sorted, without duplicates. Each may be a range FIRST..LAST:STEP,
// whose values are rounded to decimals (0.12, not the sum of three 0.04). Refused: a range without
// a step or that does not ascend, an empty list, and more than 100,000 values.
std::vector<double> parse_numbers(std::string_view text);
// The same for whole numbers that are not negative.
std::vector<std::size_t> parse_counts(std::string_view text);
// The same; a range without a step ("3..32") has step 1.
std::vector<std::size_t> parse_counts_by_one(std::string_view text);
// Sizes with units, separated by commas: "0,1KiB,8MiB". Each may be a range: "1..8MiB" doubles,
// "1KiB..1MiB:4" multiplies by 4. Sorted, without duplicates. Refused: a range that starts at 0 or
// does not ascend, a factor outside 1.01 to 1e6, and more than 10,000 sizes.
std::vector<Bytes> parse_sizes(std::string_view text);

// Types that are read by their unit.
template <class Value>
struct Quantity;
template <>
struct Quantity<BytesPerSecond> {
  static BytesPerSecond read(std::string_view text) { return parse_rate(text); }
  static std::string show(BytesPerSecond value) { return short_rate(value); }
};
template <>
struct Quantity<Seconds> {
  static Seconds read(std::string_view text) { return parse_duration(text); }
  static std::string show(Seconds value) { return format_duration(value); }
};
template <>
struct Quantity<Bytes> {
  static Bytes read(std::string_view text) { return parse_size(text); }
  static std::string show(Bytes value) { return format_size(value); }
};
template <>
struct Quantity<double> {
  static double read(std::string_view text) { return parse_number(text); }
  static std::string show(double value);
};
template <>
struct Quantity<std::size_t> {
  static std::size_t read(std::string_view text) { return parse_count(text); }
  static std::string show(std::size_t value) { return std::to_string(value); }
};

// What a variable consists of: the value of an optional, the element of a vector.
template <class Value>
struct Element {
  using Type = Value;
};
template <class Value>
struct Element<std::optional<Value>> {
  using Type = Value;
};
template <class Value>
struct Element<std::vector<Value>> {
  using Type = Value;
};
template <class Value>
using ElementOf = typename Element<Value>::Type;
template <class Value>
concept HasReader = requires {
  sizeof(Quantity<ElementOf<Value>>);
};

// The default in help; empty for values that have no name and no unit.
template <class Value>
std::string shown(const Value& value) {
  if constexpr (std::is_convertible_v<Value, std::string_view>) {
    return std::string(value);
  } else if constexpr (requires { Quantity<Value>::show(value); }) {
    return Quantity<Value>::show(value);
  } else if constexpr (requires { name_of(value); }) {
    return std::string(name_of(value));
  } else if constexpr (requires { value.has_value(); }) {
    return value ? shown(*value) : std::string{};
  } else if constexpr (requires { value.begin(); }) {
    std::string text;
    for (const auto& one : value) text += (text.empty() ? "" : ",") + shown(one);
    return text;
  } else {
    return {};
  }
}

}  // namespace espalier::cli
