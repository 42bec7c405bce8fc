// Roots for short messages that go to all hosts and come back.
#pragma once

#include <cstddef>
#include <vector>

#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// Up to `most` hosts, at least 1, from which one byte is soonest at the farthest host along the
// fastest paths; the best first. overhead: as overhead_for.
std::vector<platforms::NodeId> central_hosts(const platforms::Platform& platform, Seconds overhead,
                                             std::size_t most);

}  // namespace espalier::simulate
