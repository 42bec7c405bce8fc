// A spanning tree over a network's thickest links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/digraph.hpp"

namespace espalier::lp {

struct ThickTree {
  std::vector<std::uint32_t> arc_down;  // per node, the arc into it; kNone at the top and outside
  std::vector<std::uint32_t> above;     // per node, the tail of that arc; kNone likewise
  std::vector<std::uint32_t> depth;     // per node, arcs from the top
  std::vector<std::uint32_t> nodes;     // those in the tree, each after the one above it

  // The lowest node that is above both, or is one of them. Both must be in the tree.
  [[nodiscard]] std::uint32_t meet(std::uint32_t a, std::uint32_t b) const;
};

// From `top` over the thickest arcs first, and of equal ones those nearest to the top (Prim's
// algorithm). rates: per arc, in any unit; an arc of rate 0 is not used. Deterministic.
ThickTree thick_tree(const Digraph& graph, std::span<const double> rates, std::uint32_t top);

}  // namespace espalier::lp
