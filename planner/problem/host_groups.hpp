// The groups of hosts, level by level.
#pragma once

#include <cstdint>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::planner {

enum class GroupLevels : std::uint8_t {
  kAll,       // every component of a group's path: "lyon/rack1" is in lyon, and in its rack1
  kFinest,    // only the whole path: what TAC calls a node
  kCoarsest,  // only its first component: what TAC calls a group
};

// Per node its groups, the coarsest first; none for relays. Two hosts have the same number at a
// level when their paths agree up to that level. Empty components of a path ("lyon//rack1") are
// ignored. A platform that names no groups has one level, its bandwidth_clusters.
using HostGroups = std::vector<std::vector<std::uint32_t>>;
HostGroups host_groups(const platforms::Platform& platform, GroupLevels levels);

}  // namespace espalier::planner
