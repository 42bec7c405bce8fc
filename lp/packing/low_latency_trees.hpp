// Trees of the same throughput whose last hosts have their first segment earlier.
//
// A packing's throughput does not tell its trees' ways apart, and over long links those decide how
// long a message of some seconds takes (docs/decisions/0013-trees-that-end-early.md). The best
// packing of trees within a limit is NP-hard (lp/packing/shallow_trees.hpp), so the limit is
// bisected on what is found.
#pragma once

#include <optional>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

struct LowLatencyOptions {
  double gap = 1e-6;     // (1 - gap) of the packing's bound will do
  int max_limits = 6;    // of latency, tried one after the other
  int max_failures = 2;  // one after the other, which is the end
  std::optional<Seconds> time_limit =
      std::nullopt;  // unset: none, and the result is the same on every machine
};

// `trees`, feasible together, or others that carry as much: no more of them, no host with more
// children in one, and their ways (way_of_a_segment in lp/graph/tree_routes.hpp), weighted by rate,
// shorter in all. Unchanged where no arc has a latency and, for it would take long, where arcs
// between hosts times hosts are more than a million. packing: of the same problem.
std::vector<PackedTree> draw_nearer(const PackingProblem& problem, const Packing& packing,
                                    std::vector<PackedTree> trees,
                                    const LowLatencyOptions& options = {});

}  // namespace espalier::lp
