// Warnings about suspicious values in a valid platform: wrong units, missing links.
#pragma once

#include <string>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::platforms {

// One line for each kind of suspicious value, with up to three examples and the number of further
// ones: hosts behind a single thin link, links in one direction where most have both, latencies
// much longer than a detour's, figures beyond what is likely. Linear in the number of links except
// for the detours, of which at most about two million steps are taken: then the line says that only
// every k-th link was checked.
std::vector<std::string> warnings(const Platform& platform);

}  // namespace espalier::platforms
