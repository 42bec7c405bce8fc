// A rank's part in each tree of a plan.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/plan.hpp"

namespace espalier::runtime {

inline constexpr int kNoRank = -1;

struct TreeRole {
  int parent = kNoRank;       // the source has none
  std::vector<int> children;  // in the order of the plan
};

// What rank `rank` does in each tree. rank_of_node[i] is the rank of plan.nodes[i].
inline std::vector<TreeRole> roles_of(const planner::Plan& plan, std::span<const int> rank_of_node,
                                      int rank) {
  std::vector<TreeRole> roles;
  for (const planner::PlanTree& tree : plan.broadcast_trees) {
    TreeRole role;
    for (const auto [parent, child] : tree.edges) {
      if (rank_of_node[parent] == rank) role.children.push_back(rank_of_node[child]);
      if (rank_of_node[child] == rank) role.parent = rank_of_node[parent];
    }
    roles.push_back(std::move(role));
  }
  return roles;
}

}  // namespace espalier::runtime
