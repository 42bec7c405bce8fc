// Clusters of hosts that are near one another, in networks with long latencies between them.
#pragma once

#include <cstdint>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "planner/problem/all_roots.hpp"

namespace espalier::planner {

using HostCluster = std::vector<std::uint32_t>;  // nodes

// Hosts between which latencies are at most a tenth of the longest of all: each of the clusters
// consists of the hosts near its first one. A cluster for each host where latencies are alike.
// Empty: a host is near some hosts of a cluster only. arcs: of the problem's hosts.
std::vector<HostCluster> latency_clusters(const AllRoots& problem, const lp::HostArcs& arcs);

}  // namespace espalier::planner
