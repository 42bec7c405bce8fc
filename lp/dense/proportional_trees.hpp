// Trees that together come close to a proven bound where every resource is nearly full at the
// optimum, one after the other: each takes a share of the rate that is left, and local search makes
// it leave what remains of every resource in the same proportion, so that the next tree meets the
// same problem, smaller (docs/methods.md, "Dense networks"). From one root, or from many in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

// A tree to be made.
struct Turn {
  std::uint32_t root;
  double rate;  // of that of all trees together, > 0
};
// share: of the rate that is left, for each tree but the last.
std::vector<Turn> falling_turns(std::uint32_t root, std::size_t trees, double share);

struct ProportionalOptions {
  double loss;      // of the bound, that the trees need not reach
  double of_cost;   // weight of a tree's cost, times hosts, beside squared deviations
  double of_depth;  // weight of each edge between the root and a host's parent
  int sweeps = 4;   // of the search for a tree, at most: more gain little
  // Of the bound: where the trees together reach it, they are not searched again.
  double enough = 1;
  int passes = 1;         // so often, otherwise, while that helps
  bool gives_up = false;  // once they cost so much that they cannot
  // What a cheapest tree costs at the prices, in all roots' mean, where the bound's own make it 1.
  double least_cost = 1;
};

// A tree for each turn, feasible together. Empty: the deadline passed, or it gave up. arcs: those
// of problem.graph, which has no relays. prices: per resource, near those that prove `bound`, bytes
// per second. least_uses: of any tree, or of all roots' trees, per resource, seconds per byte
// (lp/bounds/plain_bound.hpp). turns: rates sum 1; with several roots, each host reaches every
// other.
std::vector<PackedTree> proportional_trees(const PackingProblem& problem, const HostArcs& arcs,
                                           std::span<const double> prices, double bound,
                                           std::span<const double> least_uses,
                                           std::span<const Turn> turns,
                                           const ProportionalOptions& options,
                                           const Deadline& deadline = Deadline());

}  // namespace espalier::lp
