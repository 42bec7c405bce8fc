#include "lp/graph/any_tree.hpp"

#include <algorithm>
#include <vector>

#include "support/errors.hpp"

namespace espalier::lp {

RoutedTree any_tree(const Digraph& graph, std::uint32_t root) {
  std::vector<std::vector<std::uint32_t>> out(graph.node_count);
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) out[graph.tail[arc]].push_back(arc);
  std::vector<std::uint32_t> arc_into(graph.node_count, kNone);
  std::vector<std::uint32_t> order{root};
  std::vector<std::uint32_t> path;
  RoutedTree tree;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t arc : out[order[i]]) {
      const std::uint32_t head = graph.head[arc];
      if (head == root || arc_into[head] != kNone) continue;
      arc_into[head] = arc;
      order.push_back(head);
      if (graph.relay(head)) continue;
      path.assign(1, arc);
      while (graph.relay(graph.tail[path.back()])) {
        path.push_back(arc_into[graph.tail[path.back()]]);
      }
      std::reverse(path.begin(), path.end());
      tree.add_edge(path);
    }
  }
  if (tree.edge_count() + 1 != graph.host_count()) {
    throw InfeasibleError("some host cannot be reached from the source");
  }
  return tree;
}

}  // namespace espalier::lp
