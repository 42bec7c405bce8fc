// A probe's outcome as a platform file (docs/formats.md). A compute node has no platforms/, whose
// readers need libraries of their own; what is written here they read.
#pragma once

#include <string>

#include "runtime/measure/analysis.hpp"

namespace espalier::runtime::probe {

// name: the platform's.
std::string platform_json(const Estimate& estimate, const std::string& name);

// "shared link" names: "h0, h1 to h2, h3" by ends, in the order of `links`.
std::string shared_link_name(const Estimate& estimate, const SharedLink& shared_link);

}  // namespace espalier::runtime::probe
