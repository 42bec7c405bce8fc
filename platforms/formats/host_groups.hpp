// The groups of hosts that a description of a network contains.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace espalier::platforms {

// Each host's group by the host's name, of a platform in Espalier's JSON, or of Slurm's
// topology.conf, where groups are switches and no speeds are needed. Unset if the text is neither.
// file: for messages. Throws InputError if the text is invalid.
std::optional<std::map<std::string, std::string, std::less<>>> groups_by_host(
    std::string_view text, const std::string& file);

}  // namespace espalier::platforms
