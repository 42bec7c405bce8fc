// From the optimum to a plan: the smallest number of trees that reaches it, or the best that a
// given number of trees can carry, by local search on trees of the packing (docs/decisions/0003).
// Deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/packing/arborescence_packing.hpp"
#include "lp/packing/tree_set.hpp"

namespace espalier::lp {

// What searches with limits of trees have found for one packing: one with another limit goes on
// from there, with the same result as alone. Several threads may use it.
struct FewTreesSoFar {
  struct Found {
    std::vector<PackedTree> best;
    std::size_t seen;  // number of trees in `seen` by then
  };
  std::mutex mutex{};
  std::map<std::size_t, Found> by_count{};  // powers of two
  std::vector<PackedTree> seen{};           // trees of good sets, with their rates there
};

// gap: fewer trees are used when they reach (1 - gap) of the packing's bound.
struct FewTreesOptions : Limits {
  std::size_t max_trees = 0;  // 0: up to the packing's number
  // Of this packing, and with this gap; used where max_trees is set. Null: a search of its own.
  FewTreesSoFar* so_far = nullptr;
};

// `packing` of the same problem. The result is feasible, basic (no more trees than saturated
// resources) and never slower than the same number of trees of `packing`; without max_trees never
// slower than (1 - gap) of it.
TreesFound pack_few_trees(const PackingProblem& problem, const Packing& packing,
                          const FewTreesOptions& options = {});

// The same trees, with hosts moved to other parents where resources have spare capacity: smaller
// out-degree, then smaller depth; children in order of decreasing height. Then the best rates for
// them, which carry no less and may drop trees.
TreesFound flatten_trees(const PackingProblem& problem, const Packing& packing,
                         const std::vector<PackedTree>& trees,
                         const Deadline& deadline = Deadline(), DepthIn depth = DepthIn::kTime);

// The best rates for these trees: the LP over them alone. Trees that carry almost nothing are
// dropped. Where the LP has no solution, or the deadline passes: all at the same rate, as high as
// possible. unit_rate: approximate total rate, bytes per second.
std::vector<PackedTree> with_best_rates(const PackingProblem& problem,
                                        const std::vector<RoutedTree>& trees, double unit_rate,
                                        const Deadline& deadline = Deadline());

// Repeatedly drops the trees that carry least until `count` are left, at their best rates.
std::vector<PackedTree> thinned(const PackingProblem& problem, std::vector<PackedTree> trees,
                                double unit_rate, std::size_t count,
                                const Deadline& deadline = Deadline());

// The arcs between hosts, those through relays along the paths that are cheapest under `prices`
// (then those that occupy less in all). Unset when there would be too many: hosts behind a few
// switches have hosts^2 of them. Throws LimitReached.
std::optional<HostArcs> arcs_to_search(const PackingProblem& problem,
                                       const std::vector<double>& prices,
                                       const Deadline& deadline = Deadline());

}  // namespace espalier::lp
