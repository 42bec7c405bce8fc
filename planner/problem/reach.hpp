// Which nodes of a platform can be reached from one of them.
#pragma once

#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::planner {

// Per node, whether a path along arcs leads to it from `from`, which itself counts as reached.
// closed: nodes that paths may not pass or end at; empty: no closed nodes.
std::vector<char> reached_from(const platforms::Platform& platform, platforms::NodeId from,
                               const std::vector<char>& closed = {});

}  // namespace espalier::planner
