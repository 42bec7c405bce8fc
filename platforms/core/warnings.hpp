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
// ones: hosts behind a single thin link, links in one direction where most have both, latencies
// much longer than a detour's, figures beyond the limits. Linear in the number of links except for
// the detours, of which at most about two million steps are taken: then the line says that only
// every k-th link was checked.
std::vector<std::string> warnings(const Platform& platform, const WarningLimits& limits = {});

}  // namespace espalier::platforms
