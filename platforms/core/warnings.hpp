// Warnings about suspicious values in a valid platform: wrong units, missing links.
#pragma once

#include <string>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::platforms {

// Thresholds of the warnings. `thin` and `detour` are above the values of real networks (20 Mbit/s
// to a distant town with a median of gigabits; 10 times the detour between two cloud regions) and
// below 1000, the effect of a wrong unit prefix.
struct WarningLimits {
  // Median bandwidth of all links, divided by that of a single link into a set of hosts.
  double thin = 500;
  // Latency of a link, divided by that of a detour through one node.
  double detour = 20;
  // Fastest of all links, caps and shared links, divided by the slowest.
  double spread = 1e6;
  BytesPerSecond least_rate{1e3};
  BytesPerSecond most_rate{1e14};
  Seconds most_latency{10};
};

// One line for each kind of suspicious value, with up to three examples and the number of further
// ones; empty if there are none.
// - Hosts that can be reached only through one thin link: a set of nodes with a single, thin link
//   into it.
// - Links in one direction only, if at least half of the linked pairs have both directions.
// - Latencies much longer than those of a detour through one node. Links without latency are
//   ignored, because it is usually unknown. Takes at most about two million steps: on larger
//   platforms only every k-th link is checked, and the line gives k.
// - Rates below or above the limits, latencies above the limit, rates too far apart.
// Linear in the number of links except for the detours; a few ms for 5,000 links.
std::vector<std::string> warnings(const Platform& platform, const WarningLimits& limits = {});

}  // namespace espalier::platforms
