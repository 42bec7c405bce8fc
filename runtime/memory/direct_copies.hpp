// Which ranks of a host pass segments to one another through memory: there is no link between them,
// and each can copy the data of another.
#pragma once

#include <span>
#include <vector>

#include "engine/tree_role.hpp"
#include "planner/plan/plan.hpp"
#include "runtime/memory/host_ring.hpp"

namespace espalier::runtime {

// The tree in which every node is a child of its highest ancestor that is reached by edges within
// one host, so that all copy from the same pages. Edges between hosts are unchanged. A node serves
// its children on other hosts first, in the order of the tree, then those on its own host, by their
// distance in the original tree. Not for trees with colors or exchange edges, whose order of edges
// has another meaning. host_of_node: one element per node of the plan.
planner::PlanTree with_direct_copies(const planner::PlanTree& tree,
                                     std::span<const int> host_of_node);

// The rings by which trees copy: of each rank that has children on its host, one ring, in the trees
// in which its children are the same as in the tree with the most of them. So all readers read all
// of a ring, and none has to skip cells. Not in trees with exchange edges.
std::vector<RingPlan> rings_for_copies(std::span<const planner::PlanTree> trees,
                                       std::span<const int> rank_of_node,
                                       std::span<const int> host_of_rank);
// Makes the rank's roles in these trees use the rings. A single edge to all readers of a ring is
// then the first one out.
void use_rings(std::span<engine::TreeRole> roles, int rank, std::span<const RingPlan> rings);

}  // namespace espalier::runtime
