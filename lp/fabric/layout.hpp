// Who sends to whom in each of several trees over the hosts of a fabric, before paths are chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lp/fabric/clusters.hpp"
#include "lp/fabric/host_order.hpp"

namespace espalier::lp {

struct HostEdge {
  std::uint32_t parent;
  std::uint32_t child;
};
using HostTree = std::vector<HostEdge>;  // parents before their children

// `trees` trees of equal rates that carry `rate` (bytes per second) together, in which no host
// sends more than its link carries beside what it receives. A host with children in one tree is a
// leaf in others where its link allows no more, as in two-tree algorithms. Each tree is laid over
// the order of the hosts as an interval that splits in as many parts as its root has children, near
// the middle and where few links cross. Where thin links divide the fabric in clusters, a tree over
// the outermost comes first, then one over the members of each. Unset: the links carry too little
// for so many trees, or clusters are not nested and were to be.
std::optional<std::vector<HostTree>> lay_out(const PackingProblem& problem,
                                             const FabricTree& fabric, const HostOrder& order,
                                             double rate, std::size_t trees, Nesting nesting);

}  // namespace espalier::lp
