// A rank's parent and children in each tree of a plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/send_windows.hpp"

namespace espalier::runtime {

inline constexpr int kNoRank = -1;

struct TreeRole {
  int parent = kNoRank;          // kNoRank on the source
  bool parent_is_local = false;  // on this rank's host
  // Transfers through shared memory of the host instead of MPI (runtime/memory/host_ring.hpp): from
  // the parent; to the children that read this rank's ring, which are then not among `children`.
  bool from_ring = false;
  bool to_ring = false;
  std::vector<int> children;  // in plan order, except that those on exchange edges are last
  std::size_t exchanges = 0;  // number of children on exchange edges; the last ones
  BytesPerSecond rate;        // of the tree
  // Bytes in flight at the tree's rate (planner/plan/send_windows.hpp).
  double bytes_from_parent = 0;
  std::vector<double> bytes_to_child;  // of each child
};

// The roles of rank `rank` in a plan's trees. rank_of_node[i] is the rank of plan.nodes[i].
// host_of_rank: equal for ranks of one host; empty: parent_is_local is not needed.
inline std::vector<TreeRole> roles_of(std::span<const planner::PlanTree> trees,
                                      std::span<const int> rank_of_node, int rank,
                                      std::span<const int> host_of_rank = {}) {
  std::vector<TreeRole> roles;
  for (const planner::PlanTree& tree : trees) {
    TreeRole role;
    role.rate = tree.rate;
    const auto last = [&](const planner::PlanEdge& edge) {
      return std::find(tree.exchange.begin(), tree.exchange.end(), edge) != tree.exchange.end();
    };
    std::vector<std::size_t> mine;
    std::vector<std::size_t> on_exchange_edges;
    for (std::size_t i = 0; i < tree.edges.size(); ++i) {
      const planner::PlanEdge& edge = tree.edges[i];
      if (rank_of_node[edge.child] == rank) {
        role.parent = rank_of_node[edge.parent];
        role.parent_is_local =
            !host_of_rank.empty() && host_of_rank[static_cast<std::size_t>(role.parent)] ==
                                         host_of_rank[static_cast<std::size_t>(rank)];
        role.bytes_from_parent = planner::bytes_in_flight(tree, i);
      }
      if (rank_of_node[edge.parent] != rank) continue;
      (last(edge) ? on_exchange_edges : mine).push_back(i);
    }
    role.exchanges = on_exchange_edges.size();
    mine.insert(mine.end(), on_exchange_edges.begin(), on_exchange_edges.end());
    for (const std::size_t edge : mine) {
      role.children.push_back(rank_of_node[tree.edges[edge].child]);
      role.bytes_to_child.push_back(planner::bytes_in_flight(tree, edge));
    }
    roles.push_back(std::move(role));
  }
  return roles;
}

}  // namespace espalier::runtime
