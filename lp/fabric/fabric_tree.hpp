// A spanning tree of a network's switches, and the hosts in the order of a walk over it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// A resource is full to within this share of it.
inline constexpr double kFabricRounding = 1e-9;

struct FabricTree {
  // Per node: the arcs to it from the node above it in the tree, and back. kNone at the top, which
  // is the root's switch, and for the root itself.
  std::vector<std::uint32_t> arc_down;
  std::vector<std::uint32_t> arc_up;
  std::vector<std::uint32_t> above;  // per node; kNone at the top
  std::vector<std::uint32_t> depth;  // per node, from the top
  // Per node: the only arcs out of and into a host; kNone for switches.
  std::vector<std::uint32_t> arc_out;
  std::vector<std::uint32_t> arc_in;
  std::vector<std::uint32_t> hosts;  // all but the root, in the order of a walk depth first

  // The lowest node that is above both, or is one of them.
  [[nodiscard]] std::uint32_t meet(std::uint32_t a, std::uint32_t b) const;
};

// Breadth first from the root's switch over links that carry `rate` (bytes per second) in both
// directions, and along the thickest others where those do not lead. Unset: a host has several
// links, or none of both directions to a switch, or the links of both directions between switches
// do not connect all hosts.
std::optional<FabricTree> fabric_tree(const PackingProblem& problem, double rate);

// Bytes per second that the arc carries alone, whatever its resources.
double rate_alone(const PackingProblem& problem, std::uint32_t arc);

}  // namespace espalier::lp
