#include "runtime/memory/direct_copies.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace espalier::runtime {

planner::PlanTree with_direct_copies(const planner::PlanTree& tree,
                                     std::span<const int> host_of_node) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> parent_of(host_of_node.size(), kNone);
  for (const auto [parent, child] : tree.edges) parent_of[child] = parent;
  const auto within_host = [&](std::uint32_t node) {
    return parent_of[node] != kNone && host_of_node[parent_of[node]] == host_of_node[node];
  };

  struct Local {
    planner::PlanEdge edge;
    std::size_t distance;  // in the original tree
  };
  std::vector<Local> local;
  planner::PlanTree direct = tree;
  direct.edges.clear();
  direct.latencies.clear();
  for (std::size_t i = 0; i < tree.edges.size(); ++i) {
    const planner::PlanEdge& edge = tree.edges[i];
    if (!within_host(edge.child)) {
      direct.edges.push_back(edge);
      direct.latencies.push_back(tree.latency(i));
      continue;
    }
    std::uint32_t uppermost = edge.parent;
    std::size_t distance = 1;
    for (; within_host(uppermost); ++distance) uppermost = parent_of[uppermost];
    local.push_back({{uppermost, edge.child}, distance});
  }
  std::ranges::stable_sort(local, {}, &Local::distance);
  for (const Local& copy : local) direct.edges.push_back(copy.edge);
  direct.latencies.resize(direct.edges.size());  // zero within a host
  direct.via.clear();  // may name removed edges, and the executor does not use it
  return direct;
}

namespace {

// Each rank's children on its host, in ascending order.
std::vector<std::vector<int>> children_here(const planner::PlanTree& tree,
                                            std::span<const int> rank_of_node,
                                            std::span<const int> host_of_rank) {
  std::vector<std::vector<int>> children(host_of_rank.size());
  if (!tree.exchange.empty()) return children;
  for (const auto [parent, child] : tree.edges) {
    const auto from = static_cast<std::size_t>(rank_of_node[parent]);
    const auto to = static_cast<std::size_t>(rank_of_node[child]);
    if (host_of_rank[from] == host_of_rank[to]) children[from].push_back(rank_of_node[child]);
  }
  for (std::vector<int>& of_rank : children) std::ranges::sort(of_rank);
  return children;
}

}  // namespace

std::vector<RingPlan> rings_for_copies(std::span<const planner::PlanTree> trees,
                                       std::span<const int> rank_of_node,
                                       std::span<const int> host_of_rank) {
  std::vector<RingPlan> of_rank(host_of_rank.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto children = children_here(trees[i], rank_of_node, host_of_rank);
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
      RingPlan& ring = of_rank[rank];
      if (children[rank].size() > ring.readers.size()) {
        ring = {static_cast<int>(rank), children[rank], {}, HostRing::kMostCells};
      }
    }
  }
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto children = children_here(trees[i], rank_of_node, host_of_rank);
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
      RingPlan& ring = of_rank[rank];
      if (children[rank] == ring.readers) ring.trees.push_back(i);
    }
  }
  std::erase_if(of_rank, [](const RingPlan& ring) { return ring.readers.empty(); });
  return of_rank;
}

void use_rings(std::span<engine::TreeRole> roles, int rank, std::span<const RingPlan> rings) {
  for (std::size_t i = 0; i < rings.size(); ++i) {
    const auto reads = [&](int of) { return std::ranges::binary_search(rings[i].readers, of); };
    for (const std::size_t tree : rings[i].trees) {
      engine::TreeRole& role = roles[tree];
      if (reads(rank)) {
        std::ranges::find(role.in, rings[i].writer, &engine::Edge::peer)->ring =
            static_cast<int>(i);
      }
      if (rings[i].writer != rank) continue;
      std::erase_if(role.out, [&](const engine::Edge& edge) { return reads(edge.peer); });
      engine::Edge to_readers;
      to_readers.is_local = true;
      to_readers.ring = static_cast<int>(i);
      role.out.insert(role.out.begin(), to_readers);
    }
  }
}

}  // namespace espalier::runtime
