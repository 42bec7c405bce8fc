// How long any pipelined trees take on any platform, from two figures of each: what the planner or
// the simulator knows of a tree, the homogeneous formulas of formulas.hpp do not.
#pragma once

#include <cstdint>
#include <span>

#include "support/quantities.hpp"

namespace espalier::cost_models {

// One tree of a plan. With several trees at once, `period` is what a segment of this one takes
// while the others run: for a plan of rate_Bps lambda, segment size / lambda.
struct PipelinedTree {
  Seconds period;  // from one segment to the next, in steady state
  Seconds fill;    // what the first segment takes along the deepest path beyond one period
  std::uint64_t segments = 0;
};

// fill + segments x period of the tree that is done last; trees without segments do nothing. Throws
// InputError (place: "/INDEX") for no trees, a time that is negative or not finite, and a result
// that overflows.
Seconds predict_pipelined(std::span<const PipelinedTree> trees);
Seconds predict_pipelined(const PipelinedTree& tree);

}  // namespace espalier::cost_models
