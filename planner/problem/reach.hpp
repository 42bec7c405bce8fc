// Which nodes of a platform can be reached from one of them.
#pragma once

#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::planner {

// Per node whether a way along arcs leads to it from `from`, which counts as reached.
// closed: per node whether ways may not pass or end there; empty: none is closed.
std::vector<char> reached_from(const platforms::Platform& platform, platforms::NodeId from,
                               const std::vector<char>& closed = {});

}  // namespace espalier::planner
