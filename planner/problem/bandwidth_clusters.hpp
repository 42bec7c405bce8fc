// Clusters of hosts, derived from a platform's bandwidths: for platforms that name no groups.
//
// Single linkage: two hosts are in one cluster at bandwidth b when links of at least b each connect
// them, through any hosts and relays. A link counts in both directions, so of two directions the
// faster one decides; its bandwidth is limited by the narrowest shared link that it crosses. All
// clusters at all bandwidths are in a maximum spanning tree (Gower, Ross, Minimum spanning trees
// and single linkage cluster analysis, Applied Statistics 18 (1969), doi:10.2307/2346439): its
// links, fastest first, are where clusters merge. The cut is at the largest ratio between the
// bandwidths of one merge and the next; of equal ratios the last one, which gives the fewest
// clusters. If that ratio is below kLeastClusterRatio there is no cluster structure, and all hosts
// are one cluster.
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
