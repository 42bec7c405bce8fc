// Trees over hosts that are linked to each other, without switches: tori whose hosts forward.
#pragma once

#include <cstddef>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// 4, 8 or 16 trees that carry `rate` (bytes per second) together, at most `most_trees` (0: any
// number), each over short ways on which hosts send no more than their share; where some must,
// their children move to others in chains of moves of which each makes room for the one before it.
// Empty: not found, or the deadline has passed. Deterministic, but for the deadline. Precondition:
// the graph has no relays.
std::vector<PackedTree> neighbor_trees(const PackingProblem& problem, double rate,
                                       std::size_t most_trees, const Deadline& deadline);

}  // namespace espalier::lp
