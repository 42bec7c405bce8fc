// The steps of `optimal` after the packing, also for packing problems that do not belong to a
// single instance.
#pragma once

#include "lp/packing/arborescence_packing.hpp"
#include "planner/registry.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner::tree_algorithms {

// Reduces the packing's trees in number, out-degree, depth and latency, within options.max_trees,
// options.max_depth and options.max_latency; with the packing's bound and prices. packing: of
// `problem`. platform, source: for the message of the InfeasibleError that is thrown where no tree
// is so shallow, and of the LimitReached where none was found in time.
Outcome few_shallow_trees(const lp::PackingProblem& problem, const lp::Packing& packing,
                          const AlgorithmOptions& options, const platforms::Platform& platform,
                          platforms::NodeId source);

// The share of the time for the packing: all of it, unless limits of trees or depth need a search.
double packing_share(const AlgorithmOptions& options);

}  // namespace espalier::planner::tree_algorithms
