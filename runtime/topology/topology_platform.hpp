// A platform of which only the topology is known: which ranks share a host, and which hosts a
// group. Hierarchical algorithms need no more.
#pragma once

#include <span>
#include <string>

namespace espalier::runtime {

// The speeds that such a platform assumes: of a rank within its host, and of a host's link. A group
// has a link kAssumedTaper times as fast as one of its hosts or inner groups.
inline constexpr double kAssumedWithinHost_Bps = 1e10;
inline constexpr double kAssumedOfHost_Bps = 1.25e9;
inline constexpr double kAssumedTaper = 0.25;

// Espalier's JSON. Rank i is its i-th host, in the group of its host (the group's path, and the
// host); hosts and groups are relays. hosts: the name of each rank's. host_of_rank and groups: as
// for contiguous_order.
std::string topology_platform(std::span<const std::string> hosts, std::span<const int> host_of_rank,
                              std::span<const std::string> groups);

}  // namespace espalier::runtime
