// The packing of an allgather or a reduce-scatter on a dense network without relays: from each of
// many roots trees that carry its share, made one after the other. As a packing of parts
// (lp/problem/parts_problem.hpp) it would be a copy of the graph for every root, and a column of a
// thousand trees (docs/methods.md, "Dense networks").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lp/limits.hpp"
#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

struct PackingFromRoots {
  // Its pool is empty. A root's trees carry its share of the rate.
  Packing packing;
  std::vector<std::uint32_t> roots;  // per tree, its place among the roots
};

struct PackingFromRootsOptions : Limits {
  std::size_t max_trees = 0;  // from each root; 0: not limited
};

// problem: of one part; its root is not read. roots: two or more, whose shares sum 1; each host
// reaches every other. Ends at options.gap or dense_gap, whichever is larger. When the
// deadline passes before, trees that are not good, or none, with the bound that was proven by then.
PackingFromRoots pack_from_roots(const PackingProblem& problem, std::span<const PartRoot> roots,
                                 const PackingFromRootsOptions& options);

}  // namespace espalier::lp
