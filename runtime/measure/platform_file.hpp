// Writes a probe's result as a platform file (docs/formats.md). Independent of platforms/, whose
// readers need further libraries that a compute node may lack; they can read this output.
#pragma once

#include <string>

#include "runtime/measure/analysis.hpp"

namespace espalier::runtime::probe {

// name: the platform's.
std::string platform_json(const Estimate& estimate, const std::string& name);

// A shared link's name from its ends: "h0, h1 to h2, h3".
std::string shared_link_name(const Estimate& estimate, const SharedLink& shared_link);

}  // namespace espalier::runtime::probe
