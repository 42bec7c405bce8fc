// A platform with every arc reversed: a broadcast from a node becomes a reduction to it.
#pragma once

#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::platforms {

struct ReversedPlatform {
  Platform platform;
  std::vector<ArcId> original;  // per arc of `platform`: the arc of the original that it reverses
};

// Nodes, their names and their order are unchanged; an arc u -> v becomes v -> u with the same
// values; send and receive rates are swapped; shared links consist of the reversed arcs. Reversing
// twice gives the original platform.
ReversedPlatform reversed(const Platform& platform);

}  // namespace espalier::platforms
