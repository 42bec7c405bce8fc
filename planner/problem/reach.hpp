// Which nodes of a platform can be reached from one of them.
#pragma once

#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::planner {

// Per node, whether a path along arcs leads to it from `from`, which itself counts as reached.
// closed: nodes that paths may not pass or end at; empty: no closed nodes.
std::vector<char> reached_from(const platforms::Platform& platform, platforms::NodeId from,
                               const std::vector<char>& closed = {});

// Throws InfeasibleError naming a host that cannot be reached from `source`. reversed: the platform
// is one whose arcs are reversed, so the host cannot reach it.
void require_reachable(const platforms::Platform& platform, platforms::NodeId source,
                       bool reversed = false);
// The same for a host that cannot reach `to`.
void require_return(const platforms::Platform& platform, platforms::NodeId to);

// Throws InputError for fewer than two hosts. what: it needs them; "an alltoall".
void require_hosts(const platforms::Platform& platform, std::string_view what);

}  // namespace espalier::planner
