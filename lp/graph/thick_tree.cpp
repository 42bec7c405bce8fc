#include "lp/graph/thick_tree.hpp"

#include <queue>
#include <tuple>

namespace espalier::lp {

namespace {

struct Way {
  double rate;
  std::uint32_t depth;
  std::uint64_t found;  // the order, so that the result does not depend on the queue
  std::uint32_t arc;
  bool operator<(const Way& other) const {
    return std::tuple(rate, other.depth, other.found) < std::tuple(other.rate, depth, found);
  }
};

}  // namespace

std::uint32_t ThickTree::meet(std::uint32_t a, std::uint32_t b) const {
  while (a != b) {
    std::uint32_t& lower = depth[a] >= depth[b] ? a : b;
    lower = above[lower];
  }
  return a;
}

ThickTree thick_tree(const Digraph& graph, std::span<const double> rates, std::uint32_t top) {
  std::vector<std::vector<std::uint32_t>> out(graph.node_count);
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    if (rates[arc] > 0) out[graph.tail[arc]].push_back(arc);
  }
  const std::vector<std::uint32_t> none(graph.node_count, kNone);
  ThickTree tree{none, none, std::vector<std::uint32_t>(graph.node_count, 0), {}};
  std::priority_queue<Way> ways;
  std::vector<char> reached(graph.node_count, 0);
  std::uint64_t found = 0;
  const auto open = [&](std::uint32_t node) {
    reached[node] = 1;
    tree.nodes.push_back(node);
    for (const std::uint32_t arc : out[node]) {
      if (reached[graph.head[arc]] == 0) {
        ways.push({rates[arc], tree.depth[node] + 1, found++, arc});
      }
    }
  };
  open(top);
  while (!ways.empty()) {
    const Way way = ways.top();
    ways.pop();
    const std::uint32_t node = graph.head[way.arc];
    if (reached[node] != 0) continue;
    tree.arc_down[node] = way.arc;
    tree.above[node] = graph.tail[way.arc];
    tree.depth[node] = way.depth;
    open(node);
  }
  return tree;
}

}  // namespace espalier::lp
