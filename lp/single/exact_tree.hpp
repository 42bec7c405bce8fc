// The single spanning tree with the least busiest load, and the proof that no tree is better, by
// decisions (lp/single/tree_decision.hpp) at capacities between the best tree and the bound, at
// last just below the best tree.
#pragma once

#include <cstddef>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/graph/routed_tree.hpp"
#include "lp/limits.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

struct ExactTreeOptions : Limits {
  double bound = 0;  // known lower bound of the busiest load of any tree, seconds per byte
  double work_limit = kNoLimit;  // in simplex pivots times rows: 1e7 takes some seconds
  // Per arc, not 0 where it is excluded: a good tree is found sooner among fewer arcs, but the
  // bound then does not improve on `bound`. Empty: no arc is excluded.
  std::vector<char> excluded = {};

  static constexpr double kNoLimit = 1e300;
};

struct ExactTree {
  RoutedTree tree;           // parents before children; no worse than the start
  double busiest_load = 0;   // seconds per byte
  double bound = 0;          // proven lower bound of any tree along `arcs`, seconds per byte
  bool proven = false;       // busiest_load <= (1 + gap) * bound
  std::size_t branches = 0;  // explored
  bool complete = true;      // false: the deadline ended the search
};

// start: a spanning tree, all of whose edges are among `arcs`.
ExactTree find_exact_tree(const HostArcs& arcs, std::uint32_t root, const RoutedTree& start,
                          const ExactTreeOptions& options = {});

}  // namespace espalier::lp
