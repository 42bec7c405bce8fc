// Trees that together come close to a proven bound where every resource is nearly full at the
// optimum, one after the other: each takes a share of the rate that is left, and local search makes
// it leave what remains of every resource in the same proportion, so that the next tree meets the
// same problem, smaller (docs/methods.md, "Dense networks").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

struct ProportionalOptions {
  std::size_t trees;
  double share;     // of the rate that is left, for each tree
  double loss;      // of the bound, that the trees need not reach
  double of_cost;   // weight of a tree's cost, times hosts, beside squared deviations
  double of_depth;  // weight of each edge between the root and a host's parent
};

// Feasible together. Empty: the deadline passed. arcs: those of problem.graph, which has no relays.
// prices: per resource, that prove `bound`, bytes per second. least_uses: of any tree, per
// resource, seconds per byte (lp/bounds/plain_bound.hpp).
std::vector<PackedTree> proportional_trees(const PackingProblem& problem, const HostArcs& arcs,
                                           std::span<const double> prices, double bound,
                                           std::span<const double> least_uses,
                                           const ProportionalOptions& options,
                                           const Deadline& deadline = Deadline());

}  // namespace espalier::lp
