// The time of pipelined trees on any platform, from the period and the fill time of each tree,
// which the planner or the simulator computes. The formulas of formulas.hpp are for homogeneous
// networks.
#pragma once

#include <cstdint>
#include <span>

#include "support/quantities.hpp"

namespace espalier::cost_models {

// One tree of a plan. With several concurrent trees, `period` is that of this tree while the others
// run as well: segment size / rate_Bps of the tree in the plan.
struct PipelinedTree {
  Seconds period;  // from one segment to the next, in steady state
  Seconds fill;    // time of the first segment along the deepest path, minus one period
  std::uint64_t segments = 0;
};

// The maximum of fill + segments x period over the trees that have segments; 0 if none has. Throws
// InputError (place: "/INDEX") for no trees, a time that is negative or not finite, and a result
// that overflows.
Seconds predict_pipelined(std::span<const PipelinedTree> trees);
Seconds predict_pipelined(const PipelinedTree& tree);

}  // namespace espalier::cost_models
