// Interconnects of hosts and switches as graphs, for SimGrid's clusters and the generated families.
// Not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "platforms/generators/generators.hpp"

namespace espalier::platforms {

// Limits, because fifty characters can describe 10^9 hosts.
inline constexpr std::size_t kMostFabricNodes = 200'000;
inline constexpr std::size_t kMostFabricCables = 500'000;

// `count` parallel cables between two nodes.
struct Cable {
  std::uint32_t one;
  std::uint32_t other;
  std::size_t count;
  std::size_t level;  // kind of cable in the fabric; 0: a host's own
};

// Hosts are nodes 0, 1, ...; the switches follow, kind by kind.
struct Fabric {
  std::size_t hosts = 0;
  std::vector<std::size_t> switches;  // number of each kind
  std::vector<Cable> cables;
};

// The number of hosts of a shape; some number over kMostFabricNodes if it exceeds that limit.
std::size_t hosts_of(const FatTreeShape& shape);
std::size_t hosts_of(std::span<const std::size_t> torus);
std::size_t hosts_of(const DragonflyShape& shape);

// These throw InputError (reason only) if the shape is invalid (a number of 0, a list whose length
// is not the number of levels, more groups than there are links for) or the fabric is too large.

// A parallel-ports generalised fat tree: Zahavi, "Fat-tree routing and node ordering providing
// contention free traffic for MPI global collectives", JPDC 72(11), 2012,
// doi:10.1016/j.jpdc.2012.01.018. One kind of switch per level; cables of level l lead up to
// switches of kind l.
Fabric fat_tree(const FatTreeShape& shape);

// A torus; a dimension of 2 has one link, not two. Hosts are linked to their neighbours (level 0),
// or each host to its own router (level 0) and each router to its neighbours (level 1).
Fabric torus(std::span<const std::size_t> dimensions, bool routers);

// Cables between the routers of a chassis (level 1), between equal positions in the chassis of a
// group (2), and between groups (3); hosts have level 0.
Fabric dragonfly(const DragonflyShape& shape);

// Parse SimGrid's notation, such as "2;4,4;1,2;1,2". `what` names the text in errors (InputError,
// reason only): "topo_parameters of a FAT_TREE".
FatTreeShape parse_fat_tree_shape(std::string_view text, std::string_view what);
std::vector<std::size_t> parse_torus_shape(std::string_view text, std::string_view what);
DragonflyShape parse_dragonfly_shape(std::string_view text, std::string_view what);

}  // namespace espalier::platforms
