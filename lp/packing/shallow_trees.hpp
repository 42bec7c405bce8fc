// A packing of trees within a limit of depth, in edges or in latency. The best one is NP-hard, so
// the trees that column generation prices are made shallow one by one (docs/methods.md, "Shallow
// trees"). Deterministic; the packing's bound stays the bound.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

struct ShallowOptions : Limits {
  // The limit of the path from the root to any host: a sum of latencies of at most max_latency (of
  // problem.graph; without latencies 0) or, where that is unset, max_depth edges, at least 1.
  std::uint32_t max_depth = 1;
  std::optional<Seconds> max_latency = std::nullopt;
  std::size_t max_trees = 0;                                    // 0: no limit
  std::size_t max_rounds = 400;                                 // trees priced at most
  double enough_Bps = std::numeric_limits<double>::infinity();  // stop at this rate
};

// `packing` of the same problem. All trees are within the limit. None: no spanning tree is that
// shallow (through relays, only the paths of `arcs_to_search` are considered) or, where the search
// is not complete, none was found in time.
TreesFound pack_shallow_trees(const PackingProblem& problem, const Packing& packing,
                              const ShallowOptions& options);

// Whether the tree, of the problem's graph, is within the limit.
bool is_shallow(const PackingProblem& problem, const RoutedTree& tree,
                const ShallowOptions& options);

}  // namespace espalier::lp
