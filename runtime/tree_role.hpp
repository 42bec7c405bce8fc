// A rank's part in each tree of a plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "planner/plan.hpp"

namespace espalier::runtime {

inline constexpr int kNoRank = -1;

struct TreeRole {
  int parent = kNoRank;       // the source has none
  std::vector<int> children;  // in the order of the plan, but those on exchange edges last
  std::size_t exchanges = 0;  // the last so many children are on exchange edges
};

// What rank `rank` does in each of a plan's trees. rank_of_node[i] is the rank of plan.nodes[i].
inline std::vector<TreeRole> roles_of(std::span<const planner::PlanTree> trees,
                                      std::span<const int> rank_of_node, int rank) {
  std::vector<TreeRole> roles;
  for (const planner::PlanTree& tree : trees) {
    TreeRole role;
    const auto last = [&](const planner::PlanEdge& edge) {
      return std::find(tree.exchange.begin(), tree.exchange.end(), edge) != tree.exchange.end();
    };
    std::vector<int> on_exchange_edges;
    for (const planner::PlanEdge& edge : tree.edges) {
      if (rank_of_node[edge.child] == rank) role.parent = rank_of_node[edge.parent];
      if (rank_of_node[edge.parent] != rank) continue;
      (last(edge) ? on_exchange_edges : role.children).push_back(rank_of_node[edge.child]);
    }
    role.exchanges = on_exchange_edges.size();
    role.children.insert(role.children.end(), on_exchange_edges.begin(), on_exchange_edges.end());
    roles.push_back(std::move(role));
  }
  return roles;
}

}  // namespace espalier::runtime
