#include "render/charts/colours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace espalier::render {

std::string ramp_colour(double share) {
  struct Colour {
    double red, green, blue;
  };
  constexpr std::array<Colour, 6> kStops{
      {{122, 209, 81}, {53, 183, 121}, {33, 145, 140}, {49, 104, 142}, {68, 57, 131}, {68, 1, 84}}};
  const double place = std::clamp(share, 0.0, 1.0) * (kStops.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  const double part = place - static_cast<double>(below);
  const auto mixed = [&](double Colour::*channel) {
    const double value = kStops[below].*channel * (1 - part) + kStops[below + 1].*channel * part;
    return static_cast<unsigned>(std::lround(value));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(&Colour::red), mixed(&Colour::green),
                     mixed(&Colour::blue));
}

std::string tint(std::string_view colour, double white) {
  std::string result = "#";
  for (std::size_t at = 1; at + 1 < colour.size(); at += 2) {
    unsigned channel = 0;
    std::from_chars(colour.data() + at, colour.data() + at + 2, channel, 16);
    const double mixed = channel * (1 - white) + 255 * white;
    result += fmt::format("{:02x}", static_cast<unsigned>(std::lround(mixed)));
  }
  return result;
}

}  // namespace espalier::render
