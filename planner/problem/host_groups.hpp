// The groups that hosts are in, level by level.
#pragma once

#include <cstdint>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::planner {

enum class GroupLevels : std::uint8_t {
  kAll,       // every component of a group's path: "lyon/rack1" is in lyon, and in its rack1
  kFinest,    // the whole path alone: what TAC calls a node
  kCoarsest,  // its first component alone: what TAC calls a group
};

// Per node its groups, the coarsest first; none for relays. Two hosts have the same number at a
// level when their paths agree up to it. Empty components of a path ("lyon//rack1") count for
// nothing. A platform that names no group at all has one level, its bandwidth_clusters.
using HostGroups = std::vector<std::vector<std::uint32_t>>;
HostGroups host_groups(const platforms::Platform& platform, GroupLevels levels);

}  // namespace espalier::planner
