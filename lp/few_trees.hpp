// From the optimum to a plan: as few trees as reach it, or the best that a given number of trees
// does.
//
// Which K trees pack best is NP-hard already for K = 1 (the pipelined single tree, HBT). What is
// done: K trees from the packing's own pool and from pricing against each other's load, local
// search on their joint load (lp/tree_set.hpp), and the exact rates for them from the LP, in turn.
// Deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lp/arborescence_packing.hpp"

namespace espalier::lp {

struct FewTreesOptions {
  std::size_t max_trees = 0;  // 0: as many as the packing has
  double gap = 1e-6;  // fewer trees are taken when they reach (1 - gap) of the packing's bound
  std::uint64_t effort = 2'000'000;  // local-search moves evaluated, about, from each starting set
  std::optional<Seconds> time_limit =
      std::nullopt;  // unset: none, and the result is the same on every machine
};

// `packing` of the same problem. The result is feasible, basic (no more trees than saturated
// resources) and never slower than what `packing` offers with as many trees; without max_trees
// never slower than (1 - gap) of it.
std::vector<PackedTree> pack_few_trees(const PackingProblem& problem, const Packing& packing,
                                       const FewTreesOptions& options = {});

// The same trees, re-hung where resources have room to spare: smaller out-degree, then smaller
// depth; children in order of falling height. Then the best rates for them, which carry no less and
// may leave trees out.
std::vector<PackedTree> flatten_trees(const PackingProblem& problem, const Packing& packing,
                                      const std::vector<PackedTree>& trees);

}  // namespace espalier::lp
