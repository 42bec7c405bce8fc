// An operation with several roots, planned from one of them alone: often the first host is as good
// a root of an allreduce as any set of them, and one root takes far less time.
#pragma once

#include <cstddef>

#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"

namespace espalier::planner {

// As a problem with one root, whose place among the hosts this is: that root's blocks.
Collective rooted_at(const AllRoots& problem, std::size_t root);

// Of an allreduce with free roots: each tree that goes both ways, as its reduction is along its
// broadcast's edges, may have any root at the same loads, and gets the host from which a segment
// has soonest reached all others.
void move_roots_to_middles(const AllRoots& problem, Outcome& outcome);

struct FirstRoot {
  Outcome outcome;         // with the bound that its prices prove for any roots, where they do
  bool is_enough = false;  // other roots gain next to nothing, or, as trees go both ways, nothing
};

// The optimum of an allreduce with the first host as its only root. options.gap: what is next to
// nothing.
FirstRoot prove_from_first_root(const AllRoots& problem, const AlgorithmOptions& options);

// The trees found, or those with the first host as the only root if they are better: faster, where
// the number of trees is limited, or as fast, not more, less crowded (lp/graph/crowding.hpp) or at
// most half as many, and filled sooner.
Outcome these_or_from_first_root(const AllRoots& problem, Outcome found,
                                 const AlgorithmOptions& options);

}  // namespace espalier::planner
