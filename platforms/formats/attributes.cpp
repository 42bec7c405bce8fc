#include "platforms/formats/attributes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace espalier::platforms {

namespace {

std::optional<double> parse_coordinate(std::string_view text, std::string_view what) {
  if (text.empty()) return std::nullopt;
  const auto number = parse_number(text);
  if (!number) throw InputError(fmt::format("{} is a number, not {}", what, in_quotes(text)));
  return number;
}

}  // namespace

bool parse_flag(std::string_view text, std::string_view what) {
  constexpr std::array<std::string_view, 3> kYes{"true", "yes", "1"};
  constexpr std::array<std::string_view, 4> kNo{"false", "no", "0", ""};
  std::string lower(text.substr(0, kNo[0].size() + 1));
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  if (std::ranges::find(kYes, lower) != kYes.end()) return true;
  if (std::ranges::find(kNo, lower) != kNo.end()) return false;
  throw InputError(fmt::format("{} is true or false, not {}", what, in_quotes(text)));
}

std::optional<Position> parse_position(std::string_view x, std::string_view y) {
  const auto east = parse_coordinate(x, "x");
  const auto north = parse_coordinate(y, "y");
  if (!east || !north) return std::nullopt;
  return Position{*east, *north};
}

void LinkAttributes::declare(std::string_view name) {
  bandwidth.declare(name);
  latency.declare(name);
  overhead.declare(name);
}

void NodeAttributes::declare(std::string_view name) {
  send.declare(name);
  receive.declare(name);
}

std::optional<Place> parse_place(std::string_view latitude, std::string_view longitude) {
  const auto north = parse_coordinate(latitude, "Latitude");
  const auto east = parse_coordinate(longitude, "Longitude");
  if (!north || !east) return std::nullopt;
  if (std::abs(*north) > 90 || std::abs(*east) > 360) {
    throw InputError(fmt::format("no such place: latitude {}, longitude {}", *north, *east));
  }
  return Place{*north, *east};
}

}  // namespace espalier::platforms
