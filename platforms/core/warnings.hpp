// What may be wrong with a platform that is sound as a file: slips in units, links that are
// missing.
#pragma once

#include <string>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::platforms {

// When a figure is worth a warning. `thin` and `detour` are over what real networks have (20 Mbit/s
// to a far town where the median is gigabits; 10 times the detour between two cloud regions), and
// under the 1000 of a slip in a unit's prefix.
struct WarningLimits {
  // Hosts that a single link leads to: so many times under the median bandwidth of all links.
  double thin = 500;
  // A link's latency over that of a detour by one node.
  double detour = 20;
  // Between the slowest and the fastest of all links, caps and shared links.
  double spread = 1e6;
  BytesPerSecond least_rate{1e3};
  BytesPerSecond most_rate{1e14};
  Seconds most_latency{10};
};

// One line for each kind of thing that looks like a slip, with up to three examples and how many
// more there are; empty when nothing does.
// - Hosts that are reached from the rest over one link only, and that a thin one: by one link into
// a
//   set of nodes that no thicker one leads into.
// - Links one way only, where at least half of the linked pairs have both.
// - Latencies that a detour by one node undercuts by far. Links without latency are left out, for
//   that is mostly one nobody told. Takes at most about two million steps: of a platform with more
//   every k-th link is looked at, and the line says so.
// - Rates under or over, latencies over the limits; rates too far apart.
// Linear in the links but for the detours; a few ms for 5,000 links.
std::vector<std::string> warnings(const Platform& platform, const WarningLimits& limits = {});

}  // namespace espalier::platforms
