// Ranks that share a host: no link is between them, and what one of them has the others can copy.
#pragma once

#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "runtime/engine/tree_role.hpp"

namespace espalier::runtime {

// The tree with every node below the uppermost of its ancestors to which a way within one host
// leads, so that all copy from the same pages. Nodes that got their data from another host still
// do, by the same edge. A node serves its children on other hosts first, in the order of the tree,
// then those on its own, by their distance from it. For trees without colors and exchange edges,
// whose order of edges means something else. host_of_node: one an index of the plan's nodes.
planner::PlanTree with_direct_copies(const planner::PlanTree& tree,
                                     std::span<const int> host_of_node);

// For each rank, those of its host that read its ring: its children there in a tree in which they
// are most. A ring is read by all of them or by none, so that nobody has to skip what is not for
// him.
std::vector<std::vector<int>> ring_readers(std::span<const planner::PlanTree> trees,
                                           std::span<const int> rank_of_node,
                                           std::span<const int> host_of_rank);
// Has rank's roles (roles_of, with hosts) use those rings in all trees where the children are these
// readers. Not in trees with exchange edges.
void use_rings(std::span<TreeRole> roles, std::span<const planner::PlanTree> trees,
               std::span<const int> rank_of_node, std::span<const int> host_of_rank, int rank,
               std::span<const std::vector<int>> readers_of);

}  // namespace espalier::runtime
