// A spanning tree at once, for when there is no time for a good one.
#pragma once

#include <cstdint>

#include "lp/graph/digraph.hpp"
#include "lp/graph/routed_tree.hpp"

namespace espalier::lp {

// Breadth first from the root, so that every host gets a path of the fewest arcs; what branches off
// at a relay starts at the last host before it. O(n + m). Throws InfeasibleError when some host
// cannot be reached.
RoutedTree any_tree(const Digraph& graph, std::uint32_t root);

}  // namespace espalier::lp
