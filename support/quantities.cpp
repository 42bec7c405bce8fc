#include "support/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier {

namespace {

// One of the unit is `times / over` of the base unit. As a quotient, so that 20 us is the double
// nearest to 2e-5: 1e-6 is not exact as a double, so a product with it would not be, either.
struct Unit {
  std::string_view name;
  double times;
  double over;
};

constexpr std::array<Unit, 8> kPrefixes{{{"k", 1e3, 1},
                                         {"M", 1e6, 1},
                                         {"G", 1e9, 1},
                                         {"T", 1e12, 1},
                                         {"Ki", 0x1p10, 1},
                                         {"Mi", 0x1p20, 1},
                                         {"Gi", 0x1p30, 1},
                                         {"Ti", 0x1p40, 1}}};
constexpr std::array<Unit, 5> kRateUnits{
    {{"bit/s", 1, 8}, {"b/s", 1, 8}, {"bps", 1, 8}, {"B/s", 1, 1}, {"Bps", 1, 1}}};
constexpr std::array<Unit, 1> kSizeUnits{{{"B", 1, 1}}};
constexpr std::array<Unit, 7> kTimeUnits{{{"s", 1, 1},
                                          {"ms", 1, 1e3},
                                          {"us", 1, 1e6},
                                          {"\u00b5s", 1, 1e6},
                                          {"\u03bcs", 1, 1e6},
                                          {"ns", 1, 1e9},
                                          {"min", 60, 1}}};

constexpr std::string_view kRateHelp =
    "bit/s, b/s, bps, B/s or Bps, with k M G T or Ki Mi Gi Ti before it";
constexpr std::string_view kTimeHelp = "s, ms, us, ns or min";
constexpr std::string_view kSizeHelp = "B, with k M G T or Ki Mi Gi Ti before it";

struct Amount {
  double number;
  std::string_view digits;  // the number as written
  std::string_view unit;    // the text after it
};

Amount take_amount(std::string_view text, std::string_view what) {
  const std::string_view body = trimmed(text);
  const std::size_t start = body.starts_with('-') ? 1 : 0;
  // from_chars would accept "inf" and "nan", which are not valid here.
  const bool numeric =
      body.size() > start && ((body[start] >= '0' && body[start] <= '9') || body[start] == '.');
  double number = 0;
  const auto [end, fault] = std::from_chars(body.data(), body.data() + body.size(), number);
  if (!numeric || fault == std::errc::invalid_argument) {
    throw InputError(fmt::format("{} {}: expected a number and a unit", what, in_quotes(text)));
  }
  if (fault == std::errc::result_out_of_range) {
    throw InputError(fmt::format("{} {}: the number is out of range", what, in_quotes(text)));
  }
  const auto length = static_cast<std::size_t>(end - body.data());
  return {number, body.substr(0, length), trimmed(body.substr(length))};
}

std::optional<Unit> unit_named(std::string_view name, std::span<const Unit> units) {
  const auto known = std::ranges::find(units, name, &Unit::name);
  if (known == units.end()) return std::nullopt;
  return *known;
}

std::optional<Unit> prefixed_unit(std::string_view name, std::span<const Unit> units) {
  if (const auto plain = unit_named(name, units)) return plain;
  for (const Unit& prefix : kPrefixes) {
    if (!name.starts_with(prefix.name)) continue;
    if (const auto unit = unit_named(name.substr(prefix.name.size()), units)) {
      return Unit{name, prefix.times * unit->times, unit->over};
    }
  }
  return std::nullopt;
}

double scaled(std::string_view text, std::string_view what, const Amount& amount,
              const std::optional<Unit>& unit, std::string_view help) {
  if (amount.unit.empty()) {
    throw InputError(fmt::format("{} {}: the unit is missing ({})", what, in_quotes(text), help));
  }
  if (!unit) {
    throw InputError(fmt::format("{} {}: unknown unit {} ({})", what, in_quotes(text),
                                 in_quotes(amount.unit), help));
  }
  const double value = amount.number * unit->times / unit->over;
  if (!std::isfinite(value)) {
    throw InputError(fmt::format("{} {}: the number is out of range", what, in_quotes(text)));
  }
  return value;
}

}  // namespace

BytesPerSecond parse_rate(std::string_view text) {
  const Amount amount = take_amount(text, "rate");
  return {scaled(text, "rate", amount, prefixed_unit(amount.unit, kRateUnits), kRateHelp)};
}

Seconds parse_duration(std::string_view text) {
  const Amount amount = take_amount(text, "duration");
  return {scaled(text, "duration", amount, unit_named(amount.unit, kTimeUnits), kTimeHelp)};
}

Bytes parse_size(std::string_view text) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const Amount amount = take_amount(text, "size");
  const auto refuse = [&](std::string_view reason) {
    return InputError(fmt::format("size {}: {}", in_quotes(text), reason));
  };
  double scale = 1;
  if (!amount.unit.empty()) {
    const auto known = prefixed_unit(amount.unit, kSizeUnits);
    if (!known)
      throw refuse(fmt::format("unknown unit {} ({})", in_quotes(amount.unit), kSizeHelp));
    scale = known->times;
  }
  if (amount.number < 0) throw refuse("it is negative");
  if (const auto whole = parse_whole<std::uint64_t>(amount.digits)) {  // exact, also above 2^53
    const auto factor = static_cast<std::uint64_t>(scale);
    if (*whole > kMost / factor) throw refuse("it is over 2^63 - 1 bytes");
    return {*whole * factor};
  }
  const double bytes = amount.number * scale;
  if (bytes >= 0x1p63) throw refuse("it is over 2^63 - 1 bytes");
  if (bytes != std::floor(bytes)) throw refuse("it is not a whole number of bytes");
  return {static_cast<std::uint64_t>(bytes)};
}

namespace {

// A rate in bit/s and the prefix that brings it below `most`.
struct ScaledRate {
  double number;
  std::string_view prefix;
};
ScaledRate scaled(BytesPerSecond rate, double most) {
  constexpr std::array<std::string_view, 5> kScales{"", "k", "M", "G", "T"};
  double bytes = rate.value;  // the largest would overflow in bits
  std::size_t scale = 0;
  while (std::isfinite(bytes) && std::abs(bytes) >= most / 8 && scale + 1 < kScales.size()) {
    bytes /= 1000;
    ++scale;
  }
  return {bytes * 8, kScales[scale]};
}

}  // namespace

std::string fixed(double value, int decimals) {
  constexpr double kMost = 1e15;
  if (std::isnan(value)) return "-";
  return std::abs(value) < kMost ? fmt::format("{:.{}f}", value, decimals)
                                 : fmt::format("{:.{}e}", value, decimals);
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string format_rate(BytesPerSecond rate) {
  const ScaledRate shown = scaled(rate, 999.99995);  // which would print as 1000.0000
  return fmt::format("{} {}bit/s", fixed(shown.number, 4), shown.prefix);
}

std::string short_rate(BytesPerSecond rate) {
  const ScaledRate shown = scaled(rate, 999.5);  // which would print as 1e+03
  return fmt::format("{:.3g} {}bit/s", shown.number, shown.prefix);
}

std::string format_duration(Seconds duration) {
  const double size = std::abs(duration.value);
  if (size == 0 || size >= 0.99995 || !std::isfinite(size)) {
    return fixed(duration.value, 3) + " s";
  }
  if (size >= 0.99995e-3) return fmt::format("{:.1f} ms", duration.value * 1e3);
  if (size >= 0.99995e-6) return fmt::format("{:.1f} us", duration.value * 1e6);
  return fmt::format("{:.1f} ns", duration.value * 1e9);
}

namespace {

constexpr std::array<std::string_view, 5> kDecimalUnits{"kB", "MB", "GB", "TB", "PB"};
constexpr std::array<std::string_view, 5> kBinaryUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};

// An amount in a unit, with at most two decimals.
struct ScaledSize {
  std::string text;
  std::size_t decimals = 0;
  bool is_exact = false;
};

ScaledSize scaled_size(Bytes size, std::uint64_t step, std::span<const std::string_view> units) {
  const auto amount_in = [&](std::uint64_t unit) {
    return static_cast<double>(size.value) / static_cast<double>(unit);
  };
  std::uint64_t unit = step;
  std::size_t at = 0;
  while (amount_in(unit) >= static_cast<double>(step) - 0.005 && at + 1 < units.size()) {
    unit *= step;
    ++at;
  }
  std::string digits = fmt::format("{:.2f}", amount_in(unit));
  digits.erase(digits.find_last_not_of('0') + 1);
  const std::size_t decimals = digits.size() - digits.find('.') - 1;
  if (decimals == 0) digits.pop_back();
  return {fmt::format("{} {}", digits, units[at]), decimals, size.value % unit * 100 % unit == 0};
}

}  // namespace

std::string format_size(Bytes size) {
  if (size.value < 1000) return fmt::format("{} B", size.value);
  const ScaledSize decimal = scaled_size(size, 1000, kDecimalUnits);
  if (size.value < 1024) return decimal.text;
  const ScaledSize binary = scaled_size(size, 1024, kBinaryUnits);
  const bool is_binary =
      binary.is_exact && (!decimal.is_exact || binary.decimals <= decimal.decimals);
  return is_binary ? binary.text : decimal.text;
}

}  // namespace espalier
