// What simulated sends do that need the same port or link at the same time. Turns have closed forms
// and are fast; TCP gives each connection a share and hands its messages over one after the other
// (edges), SimGrid gives each message one (sends). docs/accuracy.md has how near each comes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace espalier::simulate {

enum class Sharing : std::uint8_t {
  kTurns,  // one after the other
  kEdges,  // each edge of a tree has a share, and its segments come one after the other
  kSends,  // each send in progress has a share
};

struct SharingEntry {
  Sharing sharing;
  std::string_view name;
};
inline constexpr std::array<SharingEntry, 3> kSharings{
    {{Sharing::kTurns, "turns"}, {Sharing::kEdges, "edges"}, {Sharing::kSends, "sends"}}};

[[nodiscard]] std::string_view name_of(Sharing sharing);
// Throws InputError (reason only) for another name.
[[nodiscard]] Sharing parse_sharing(std::string_view name);

}  // namespace espalier::simulate
