// A spanning tree of a network's switches, and the hosts in the order of a walk over it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/graph/thick_tree.hpp"
#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// A resource is full to within this share of it.
inline constexpr double kFabricRounding = 1e-9;
// How much all of these loads together are above 1, that of a full resource.
double excess_of(std::span<const double> loads);

// The top is the root's switch. Hosts have only their arc_in in the tree.
struct FabricTree : ThickTree {
  std::vector<std::uint32_t> reverse;  // per arc: an arc back, kNone where there is none
  std::vector<std::uint32_t>
      arc_up;  // per node, the arc back to the node above it; kNone at the top
  // Per node: the only arcs out of and into a host; kNone for switches.
  std::vector<std::uint32_t> arc_out;
  std::vector<std::uint32_t> arc_in;
  std::vector<std::uint32_t> hosts;  // all but the root, in the order of a walk depth first
  // Per node: the group that it belongs to, from 0, the root's. Links between groups are thinner
  // than those that were wanted.
  std::vector<std::uint32_t> group;
  std::uint32_t group_count = 0;
};

// Why a network is not one of hosts whose links all lead to switches.
struct NoFabric {
  enum class Reason : std::uint8_t {
    kNoSwitch,   // a link of it leads to another host, or there is none
    kOneWay,     // its links out and in are not to and from the same switches
    kUnreached,  // links of both directions do not lead to it from the root
  };
  Reason reason;
  std::uint32_t host;
};
// Of hosts with several links, each plane is looked at alone (lp/fabric/planes.hpp).
std::optional<NoFabric> why_no_fabric(const PackingProblem& problem);

// Breadth first from the root's switch over links that carry `rate` (bytes per second) in both
// directions, and along the thickest others where those do not lead. Unset: why_no_fabric, or a
// host has several links.
std::optional<FabricTree> fabric_tree(const PackingProblem& problem, double rate);

}  // namespace espalier::lp
