// Clusters of hosts, derived from a platform's bandwidths by single linkage, for platforms that
// name no groups (docs/methods.md, "Clusters").
#pragma once

#include <cstdint>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::planner {

inline constexpr double kLeastClusterRatio =
    2;  // our choice: gaps below a factor of two do not separate clusters

// The cluster of each host, in the order of platform.hosts(). Clusters are numbered from 0 by their
// first hosts. O(m log m); deterministic.
std::vector<std::uint32_t> bandwidth_clusters(const platforms::Platform& platform);

}  // namespace espalier::planner
