// How simulated sends use a port or link that they need at the same time. Turns have closed forms
// and are fast. TCP gives each connection a share, and delivers its messages one after the other
// (edges). SimGrid gives each message a share (sends). docs/accuracy.md compares the three with
// measurements.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "support/choice.hpp"

namespace espalier::simulate {

enum class Sharing : std::uint8_t {
  kTurns,  // one after the other
  kEdges,  // each edge of a tree has a share, and serves its segments one after the other
  kSends,  // each send in progress has a share
};

inline constexpr std::array<Choice<Sharing>, 3> kSharings{
    {{"turns", Sharing::kTurns}, {"edges", Sharing::kEdges}, {"sends", Sharing::kSends}}};

[[nodiscard]] std::string_view name_of(Sharing sharing);
// Throws InputError (reason only) for another name.
[[nodiscard]] Sharing parse_sharing(std::string_view name);

}  // namespace espalier::simulate
