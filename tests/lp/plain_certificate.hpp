// Checks the results of a packing from the graph and the matrix alone.
//
// Shares no code with the packing: an arborescence by plain contraction (Chu and Liu 1965, Edmonds
// 1967), O(n m), and shortest paths through relays by plain relaxation. Deliberately slow and
// simple.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lp/graph/digraph.hpp"
#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// Least total cost of an arborescence from `root` that spans nodes 0..node_count-1; unset: some
// node cannot be reached. Arcs (tail[e], head[e]) at cost[e].
std::optional<double> plain_min_arborescence_cost(std::uint32_t node_count,
                                                  std::span<const std::uint32_t> tail,
                                                  std::span<const std::uint32_t> head,
                                                  std::span<const double> cost, std::uint32_t root);

// The bound that prices prove: sum(prices) / mincost(prices), in bytes per second. prices: one per
// resource, finite and >= 0, not all 0, else InputError. Infinite when a spanning tree costs
// nothing.
double bound_from_prices(const PackingProblem& problem, std::span<const double> prices);

// The first fault of the packing: a tree that does not span the hosts from the root along arcs, a
// rate that is not positive, a resource loaded over 1 + tolerance, a rate that is not the sum, a
// bound that the prices do not prove. Empty: none.
std::string packing_fault(const PackingProblem& problem, const Packing& packing,
                          double tolerance = 1e-6);

}  // namespace espalier::lp
