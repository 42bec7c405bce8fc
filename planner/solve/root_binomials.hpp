// Binomial trees of every root, in the hosts' order: each host exchanges data with log2 n others.
#pragma once

#include <optional>

#include "planner/problem/all_roots.hpp"
#include "planner/registry.hpp"

namespace espalier::planner {

// These trees, where they reach a plain bound: among hosts at one switch, say, equal or not, they
// load each port as any optimum does. A solver's trees there have an edge from a host to each of
// the others, and TCP, which cannot keep so many connections into one host from overflowing a
// queue, then takes up to 1.6 times as long (docs/decisions/0026-few-neighbours.md). Unset: they do
// not reach it, some of the edges cannot be, hosts form clusters that are far from one another, or
// they are so few that none has more than kFewNeighbours (planner/plan/send_windows.hpp) anyway.
std::optional<Outcome> along_binomial_trees(const AllRoots& problem,
                                            const AlgorithmOptions& options);

}  // namespace espalier::planner
