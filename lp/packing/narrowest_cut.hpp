// A narrow place of a network with switches, found in one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// Bytes per second that the arc carries alone, whatever its resources.
double rate_alone(const PackingProblem& problem, std::uint32_t arc);

// Of the parts of the network below one arc of a spanning tree over its thickest links, that into
// which the least leads: the arcs into it. Each such part has a host and not the root, so every
// tree uses one of these arcs. Empty: the network has no relays, where hosts' ports are narrower.
// O(arcs x depth of the spanning tree).
std::vector<std::uint32_t> narrowest_cut(const PackingProblem& problem);

}  // namespace espalier::lp
