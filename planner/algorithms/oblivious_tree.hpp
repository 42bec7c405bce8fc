// What topology-blind algorithms share: shapes over ranks relative to the source
// (planner/plan/oblivious_shapes.hpp), laid over the platform. A hop between two hosts that no link
// joins goes along the fastest path, through relays and other hosts alike, and loads it. Where
// there is no path either, links being one-way, the sender's own parent takes the child over, in
// the end the source.
#pragma once

#include <span>

#include "planner/plan/oblivious_shapes.hpp"
#include "planner/registry.hpp"

namespace espalier::planner::tree_algorithms {

// The shapes over the instance's hosts, all at one rate, the largest at which they are jointly
// feasible. The outcome has the colors only if every edge joins the ranks that the shape says:
// taking over changes who sends, and a sender may then have two edges of one color.
Outcome lay_over(const Instance& instance, std::span<const ObliviousTree> trees);

}  // namespace espalier::planner::tree_algorithms
