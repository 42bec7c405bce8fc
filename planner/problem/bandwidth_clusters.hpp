// Clusters of hosts, told from a platform's bandwidths alone: for platforms that name no groups.
//
// Single linkage: two hosts are in one cluster at bandwidth b when links of at least b each join
// them, through whatever hosts and relays. A link counts whichever way it goes, so that of two
// directions the faster one counts, and at no more than the narrowest shared link that it crosses.
// All clusters at all bandwidths are in a maximum spanning tree (Gower, Ross, Minimum spanning
// trees and single linkage cluster analysis, Applied Statistics 18 (1969), doi:10.2307/2346439):
// its links, fastest first, are where clusters merge. The cut is where the bandwidth of one merge
// and the next are farthest apart, as a ratio; of equal ratios the last, which leaves the fewest
// clusters. A ratio below kLeastClusterRatio is no structure: then all hosts are one cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::planner {

inline constexpr double kLeastClusterRatio = 2;  // ours: a link half as fast is not yet a thin one

// Per host, in the order of platform.hosts(), the number of its cluster. Clusters are numbered from
// 0 by their first hosts. O(m log m); the same platform gives the same clusters.
std::vector<std::uint32_t> bandwidth_clusters(const platforms::Platform& platform);

}  // namespace espalier::planner
