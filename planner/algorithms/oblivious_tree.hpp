// Shapes over ranks relative to the source (planner/plan/shapes/oblivious_shapes.hpp), laid over
// the platform: a hop without a link takes the fastest path and loads it; where there is none, the
// sender's own parent becomes the child's parent.
#pragma once

#include <span>
#include <vector>

#include "planner/plan/shapes/oblivious_shapes.hpp"
#include "planner/registry.hpp"

namespace espalier::planner::tree_algorithms {

// The shapes over the instance's hosts, all at the largest equal rate at which they are jointly
// feasible. The outcome has colors only if every edge connects the ranks of the shape: where a
// child has another parent, that sender may have two edges of one color.
// Throws LimitReached.
// order: the hosts, whose places are the ranks; empty: the platform's order.
Outcome lay_over(const Instance& instance, const AlgorithmOptions& options,
                 std::span<const ObliviousTree> trees,
                 std::span<const platforms::NodeId> order = {});

// These trees at the largest equal rate at which they are jointly feasible.
Outcome equal_trees(const Instance& instance, std::vector<lp::RoutedTree> trees);

}  // namespace espalier::planner::tree_algorithms
