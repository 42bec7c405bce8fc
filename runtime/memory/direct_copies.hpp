// Direct copies among ranks that share a host: there is no link between them, and each can copy the
// data of another.
#pragma once

#include <span>
#include <vector>

#include "engine/tree_role.hpp"
#include "planner/plan/plan.hpp"

namespace espalier::runtime {

// The tree in which every node is a child of its highest ancestor that is reached by edges within
// one host, so that all copy from the same pages. Edges between hosts are unchanged. A node serves
// its children on other hosts first, in the order of the tree, then those on its own host, by their
// distance in the original tree. Not for trees with colors or exchange edges, whose order of edges
// has another meaning. host_of_node: one element per node of the plan.
planner::PlanTree with_direct_copies(const planner::PlanTree& tree,
                                     std::span<const int> host_of_node);

// For each rank, the ranks of its host that read its ring: its children on the host, in the tree
// with the most of them. In each tree a ring is read by all of these ranks or by none, so that no
// reader has to skip cells.
std::vector<std::vector<int>> ring_readers(std::span<const planner::PlanTree> trees,
                                           std::span<const int> rank_of_node,
                                           std::span<const int> host_of_rank);
// Makes the rank's roles (from roles_of, with hosts) use those rings in all trees in which exactly
// these readers are the children; a single edge to all of them is then the first one out. Not in
// trees with exchange edges.
void use_rings(std::span<engine::TreeRole> roles, std::span<const planner::PlanTree> trees,
               std::span<const int> rank_of_node, std::span<const int> host_of_rank, int rank,
               std::span<const std::vector<int>> readers_of);

}  // namespace espalier::runtime
