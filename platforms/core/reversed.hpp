// A platform with every arc reversed: what spreads from a node there is gathered at it here.
#pragma once

#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::platforms {

struct ReversedPlatform {
  Platform platform;
  std::vector<ArcId>
      original;  // per arc of `platform`, the one of the original that it turns round
};

// Nodes, names and the order of nodes stay; an arc u -> v becomes v -> u with the same figures;
// send and receive caps are swapped; shared links carry the turned arcs. Reversing twice gives the
// original back.
ReversedPlatform reversed(const Platform& platform);

}  // namespace espalier::platforms
