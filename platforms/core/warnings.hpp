// Warnings about suspicious values in a valid platform: wrong units, missing links.
#pragma once

#include <string>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::platforms {

// One line for each kind of suspicious value, with up to three examples: hosts behind a single thin
// link, links in one direction where most have both, latencies much longer than a detour's (of many
// links, only every k-th is checked), figures beyond what is likely.
std::vector<std::string> warnings(const Platform& platform);

}  // namespace espalier::platforms
