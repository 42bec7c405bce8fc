// The random trees and paths of a random call.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/plan/plan.hpp"
#include "tests/engine/adversary_network.hpp"

namespace espalier::testing::adversary {

// Over these ranks, from the first one on; long, wide or neither. most_children: of a node.
planner::PlanTree random_tree(const std::vector<int>& members, std::size_t most_children,
                              Random& random);
// One or two trees of all ranks that can be run in rounds.
std::vector<planner::PlanTree> colored_trees(const std::vector<int>& members, Random& random);
// Over some of the ranks, in any order.
planner::PlanTree random_path(int from, int to, int ranks, Random& random);
void add_latencies(planner::PlanTree& tree, Random& random);

// The first of the ranks, and some of the others: those that a tree leads to where ranks help.
std::vector<int> some_of(const std::vector<int>& members, Random& random);
// Of a broadcast along these trees.
planner::Plan plan_from(const std::vector<planner::PlanTree>& trees, std::size_t ranks, int root);

}  // namespace espalier::testing::adversary
