// The groups of hosts that a description of the network contains.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/topology/host_groups.hpp"

namespace espalier::cli {

// Those of a platform in Espalier's JSON, or of Slurm's topology.conf, where they are the switches.
// Unset if the text is neither, or this build reads no platforms. file: for messages. Throws
// InputError if the text is invalid.
std::optional<runtime::HostGroups> platform_groups(std::string_view text, const std::string& file);

}  // namespace espalier::cli
