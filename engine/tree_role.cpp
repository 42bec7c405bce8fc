#include "engine/tree_role.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "planner/plan/send_windows.hpp"

namespace espalier::engine {
namespace {

TreeRole spreading_role(const planner::PlanTree& tree, std::span<const int> rank_of_node, int rank,
                        std::span<const int> host_of_rank) {
  const auto edge_to = [&](std::size_t edge, int peer) {
    const bool is_local = !host_of_rank.empty() && host_of_rank[static_cast<std::size_t>(peer)] ==
                                                       host_of_rank[static_cast<std::size_t>(rank)];
    return Edge{peer, planner::bytes_in_flight(tree, edge), is_local};
  };
  TreeRole role;
  role.rate = tree.rate;
  std::vector<Edge> exchanges;
  for (std::size_t i = 0; i < tree.edges.size(); ++i) {
    const int parent = rank_of_node[tree.edges[i].parent];
    const int child = rank_of_node[tree.edges[i].child];
    if (child == rank) role.in.push_back(edge_to(i, parent));
    if (parent != rank) continue;
    const bool is_last = std::ranges::find(tree.exchange, tree.edges[i]) != tree.exchange.end();
    (is_last ? exchanges : role.out).push_back(edge_to(i, child));
  }
  role.exchanges = exchanges.size();
  role.out.insert(role.out.end(), exchanges.begin(), exchanges.end());
  return role;
}

}  // namespace

std::vector<TreeRole> roles_of(std::span<const planner::PlanTree> trees,
                               std::span<const int> rank_of_node, int rank,
                               std::span<const int> host_of_rank, Kind kind) {
  std::vector<TreeRole> roles;
  for (const planner::PlanTree& tree : trees) {
    TreeRole& role = roles.emplace_back(spreading_role(tree, rank_of_node, rank, host_of_rank));
    role.combines = kind == Kind::kCombine;
    if (role.combines) std::swap(role.in, role.out);
  }
  return roles;
}

bool exchanges_with_more_than(std::size_t most, std::span<const TreeRole> roles) {
  std::set<int> to;
  std::set<int> from;
  const auto add_remote = [](std::span<const Edge> edges, std::set<int>& peers) {
    for (const Edge& edge : edges) {
      if (!edge.is_local && !edge.uses_ring()) peers.insert(edge.peer);
    }
  };
  for (const TreeRole& role : roles) {
    if (role.in.empty()) add_remote(role.out, to);
    add_remote(role.in, from);
  }
  return to.size() > most && from.size() > most;
}

}  // namespace espalier::engine
