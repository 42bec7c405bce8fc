// A packing of trees no deeper than a limit, in edges or in latency: what deep trees cost is the
// time until their last host has its first segment.
//
// The best such packing is NP-hard already for equal links (a minimum spanning tree of limited
// depth is: Dahl, The 2-hop spanning tree problem, Oper. Res. Letters 23 (1998),
// doi:10.1016/S0167-6377(98)00029-7). What is done: column generation as in
// lp/packing/arborescence_packing.hpp, where each cheapest tree is made shallow: hosts that hang
// too deep go to the cheapest host that is near enough to the root, then any host to a cheaper one
// as long as the limit holds. Deterministic; the packing's bound stays the bound.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

struct ShallowOptions {
  // What the way from the root to the farthest host may be: latencies that add up to no more than
  // max_latency (of problem.graph; none is 0) or, where that is unset, max_depth edges, at least 1.
  std::uint32_t max_depth = 1;
  std::optional<Seconds> max_latency = std::nullopt;
  std::size_t max_trees = 0;     // 0: as many as the packing of shallow trees has
  std::size_t max_rounds = 400;  // trees priced
  double enough_Bps = std::numeric_limits<double>::infinity();  // none once they carry so much
  std::optional<Seconds> time_limit = std::nullopt;
};

// `packing` of the same problem. Feasible together, none deeper than the limit. Empty: no spanning
// tree is that shallow (through relays, hosts are as near as on the ways of `arcs_to_search`).
std::vector<PackedTree> pack_shallow_trees(const PackingProblem& problem, const Packing& packing,
                                           const ShallowOptions& options);

// Whether the tree, of the problem's graph, keeps the limit.
bool is_shallow(const PackingProblem& problem, const RoutedTree& tree,
                const ShallowOptions& options);

}  // namespace espalier::lp
