// Packings whose trees lp/fabric/ builds directly, and a plain bound proves (docs/model.md,
// "Networks with switches").
#pragma once

#include <optional>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "planner/problem/collective_problem.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "support/deadline.hpp"

namespace espalier::planner {

// Trees of lp/fabric/ that carry `rate` together, in bytes per second, made in at most a fifth of
// the time; empty: there are fewer than 64 hosts, or no such trees.
std::vector<lp::PackedTree> fabric_trees(const lp::PackingProblem& problem, double rate,
                                         std::size_t most_trees, const Deadline& deadline);

// Direct trees, where they reach a plain bound, and keep within the limits of depth and number: as
// good as a packing can be, and shallower. Unset: there are none.
std::optional<lp::Packing> direct_packing(const Instance& instance,
                                          const AlgorithmOptions& options);

// The same of an allreduce, which reduces along its broadcast's trees reversed. It is within
// options.gap of the bound, or within a thousandth: the root is in no tree a leaf, so that of n
// equal hosts some capacity is left over, 1/n of the whole; trees that use it have almost all hosts
// under one.
std::optional<lp::Packing> direct_allreduce(const CollectiveProblem& joint,
                                            const Collective& collective,
                                            const AlgorithmOptions& options);

}  // namespace espalier::planner
