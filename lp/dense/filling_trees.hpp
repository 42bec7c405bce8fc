// Trees that together come close to a proven bound far above the rate of any one tree, as where
// hosts have many links, no port, and all links are full at the optimum: one after the other, each
// of arcs that have the most left (docs/methods.md, "Dense networks"). From one root, or from many.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

// Whether the bound is far above the rate of a single tree, as it is where hosts have many links
// and no port. Then trees of proportional loads do not exist.
bool suits_filling_trees(const HostArcs& arcs, std::uint32_t root, double bound);

// Feasible together, within `gap` of the bound where the method gets so far; those made by then
// where the deadline passes. arcs: those of problem.graph, which has no relays. prices: per
// resource, that prove `bound`, bytes per second. roots: shares sum 1; of several, each host
// reaches every other, and all have some part of their share before the last of them is made
// smaller.
std::vector<PackedTree> filling_trees(const PackingProblem& problem, const HostArcs& arcs,
                                      std::span<const double> prices, double bound,
                                      std::span<const PartRoot> roots, double gap,
                                      const Deadline& deadline = Deadline());

}  // namespace espalier::lp
