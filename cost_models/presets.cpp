#include "cost_models/presets.hpp"

#include <array>

#include "support/choice.hpp"

namespace espalier::cost_models {

namespace {

constexpr double kMicrosecond = 1e-6;

constexpr std::string_view kTable5 =
    "Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, table 5";

// L, o, g and G in microseconds as the table prints them.
constexpr LogGP microseconds(double latency, double overhead, double gap, double gap_per_byte) {
  return {{latency * kMicrosecond},
          {overhead * kMicrosecond},
          {gap * kMicrosecond},
          {gap_per_byte * kMicrosecond}};
}

constexpr std::array kPresets{
    Preset{"boba", "32 dual Pentium IV Xeon 2.4 GHz, Gigabit Ethernet", kTable5,
           microseconds(30.40, 8.15, 8.683, 0.015)},
    // The table prints a colon after the unit of g; it is taken for a misprint.
    Preset{"frodo", "32 dual Opteron, 100 Mbit/s Ethernet", kTable5,
           microseconds(61.22, 8.2, 23.8, 0.084)}};

}  // namespace

std::span<const Preset> presets() {
  return kPresets;
}

const Preset& find_preset(std::string_view name) {
  return choice_named("preset", kPresets, name);
}

}  // namespace espalier::cost_models
