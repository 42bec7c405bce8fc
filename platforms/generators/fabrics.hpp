// Interconnects of hosts and switches as bare graphs: what SimGrid's clusters and the generated
// families have in common. Not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "platforms/generators/generators.hpp"

namespace espalier::platforms {

// More than this is refused: 10^9 hosts are written in fifty characters.
inline constexpr std::size_t kMostFabricNodes = 200'000;
inline constexpr std::size_t kMostFabricCables = 500'000;

// `count` parallel cables between two nodes.
struct Cable {
  std::uint32_t one;
  std::uint32_t other;
  std::size_t count;
  std::size_t level;  // which of the fabric's kinds of cable; 0: a host's own
};

// Hosts are nodes 0, 1, ...; the switches are numbered on from there, kind by kind.
struct Fabric {
  std::size_t hosts = 0;
  std::vector<std::size_t> switches;  // how many of each kind
  std::vector<Cable> cables;
};

// How many hosts a shape is for; over kMostFabricNodes for all that are more than that.
std::size_t hosts_of(const FatTreeShape& shape);
std::size_t hosts_of(std::span<const std::size_t> torus);
std::size_t hosts_of(const DragonflyShape& shape);

// These throw InputError (reason only) when the shape is unsound (a number of 0, numbers that are
// not as many as there are levels, more groups than there are links for) or the fabric too large.

// A parallel-ports generalised fat tree: Zahavi, "Fat-tree routing and node ordering providing
// contention free traffic for MPI global collectives", JPDC 72(11), 2012,
// doi:10.1016/j.jpdc.2012.01.018. A kind of switch a level; cables of level l lead up to switches
// of kind l.
Fabric fat_tree(const FatTreeShape& shape);

// A grid that closes on itself; a dimension of 2 has one link, not two. Hosts are linked to their
// neighbours (level 0), or each to a router of its own (level 0) and the routers to theirs (1).
Fabric torus(std::span<const std::size_t> dimensions, bool routers);

// Routers of a chassis (level 1), equal places of a group's chassis (2), and groups (3).
Fabric dragonfly(const DragonflyShape& shape);

// SimGrid's notation, "2;4,4;1,2;1,2" and so on. `what` is named in refusals (InputError, reason
// only): "topo_parameters of a FAT_TREE".
FatTreeShape parse_fat_tree_shape(std::string_view text, std::string_view what);
std::vector<std::size_t> parse_torus_shape(std::string_view text, std::string_view what);
DragonflyShape parse_dragonfly_shape(std::string_view text, std::string_view what);

}  // namespace espalier::platforms
