// What `optimal` makes of a packing, for whoever has a packing problem that is no single
// instance's.
#pragma once

#include "lp/packing/arborescence_packing.hpp"
#include "planner/problem/deadline.hpp"
#include "planner/registry.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner::tree_algorithms {

// The packing's trees made few and flat, within options.max_trees, options.max_depth and
// options.max_latency, with its bound and prices. packing: of `problem`. platform, source: for the
// refusal, an InfeasibleError where no tree is as shallow.
Outcome few_and_flat(const lp::PackingProblem& problem, const lp::Packing& packing,
                     const AlgorithmOptions& options, const Deadline& deadline,
                     const platforms::Platform& platform, platforms::NodeId source);

}  // namespace espalier::planner::tree_algorithms
