// The steps of `optimal` after the packing, also for packing problems that do not belong to a
// single instance.
#pragma once

#include <string_view>

#include "lp/packing/arborescence_packing.hpp"
#include "lp/packing/shallow_trees.hpp"
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

// Whether options limit the depth or the latency of trees, and the limits.
bool limits_depth(const AlgorithmOptions& options);
lp::ShallowOptions shallow_options(const AlgorithmOptions& options);
// Throws that no tree was found within them. complete: because there is none, InfeasibleError;
// otherwise in time, LimitReached. from: the root, in the message.
[[noreturn]] void refuse_limit(const platforms::Platform& platform, std::string_view from,
                               bool complete, const AlgorithmOptions& options);
// The end of a search that was complete, or cut short by the deadline.
Termination end_of(bool complete);

// The share of the time for the packing: all of it, unless limits of trees or depth need a search.
double packing_share(const AlgorithmOptions& options);

}  // namespace espalier::planner::tree_algorithms
