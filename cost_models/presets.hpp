// Networks whose parameters were published.
#pragma once

#include <span>
#include <string_view>

#include "cost_models/parameters.hpp"

namespace espalier::cost_models {

struct Preset {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  // paper and table
  LogGP loggp;
};

// The clusters of CM, table 5, with the figures as printed there.
std::span<const Preset> presets();

// Throws InputError for an unknown name; the message suggests the nearest name and lists all.
const Preset& find_preset(std::string_view name);

}  // namespace espalier::cost_models
