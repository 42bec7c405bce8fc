// Trees that grow by one host at a time, as in Prim's and Dijkstra's algorithms. Not installed.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/graph/routed_tree.hpp"
#include "support/deadline.hpp"

namespace espalier::planner::tree_algorithms {

// From `root`, each time along the arc of the least score(arc) from a host of the tree to one
// outside; of equal ones, the arc with the smaller index. Scores may change as the tree grows, but
// never decrease. take(arc): called before the arc becomes part of the tree. Throws LimitReached.
template <class Score, class Take>
lp::RoutedTree grow_tree(const lp::HostArcs& arcs, std::uint32_t root, const Deadline& deadline,
                         Score score, Take take) {
  using Scored = std::pair<decltype(score(root)), std::uint32_t>;
  std::priority_queue<Scored, std::vector<Scored>, std::greater<>> found;
  DeadlineWatch watch(deadline);
  std::vector<char> inside(arcs.node_count(), 0);
  const auto enter = [&](std::uint32_t node) {
    inside[node] = 1;
    watch.require(32 * arcs.out_of(node).size());
    for (const std::uint32_t arc : arcs.out_of(node)) {
      if (inside[arcs.head(arc)] == 0) found.emplace(score(arc), arc);
    }
  };
  lp::RoutedTree tree;
  enter(root);
  while (!found.empty()) {
    watch.require(64);
    const auto [before, arc] = found.top();
    found.pop();
    if (inside[arcs.head(arc)] != 0) continue;
    if (const auto now = score(arc); now > before) {
      found.emplace(now, arc);
      continue;
    }
    take(arc);
    arcs.add_edge(arc, tree);
    enter(arcs.head(arc));
  }
  return tree;
}

}  // namespace espalier::planner::tree_algorithms
