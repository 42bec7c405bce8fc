#include "lp/graph/routed_tree.hpp"

namespace espalier::lp {

void RoutedTree::add_edge(std::span<const std::uint32_t> path) {
  if (path.size() > 1 && path_ends.empty()) {
    // So far every edge was one arc: record their ends.
    path_ends.reserve(arcs.size() + 1);
    for (std::uint32_t end = 1; end <= arcs.size(); ++end) path_ends.push_back(end);
  }
  const bool routed = path.size() > 1 || !path_ends.empty();
  arcs.insert(arcs.end(), path.begin(), path.end());
  if (routed) path_ends.push_back(static_cast<std::uint32_t>(arcs.size()));
}

void RoutedTree::append(const RoutedTree& tree, std::uint32_t offset) {
  std::vector<std::uint32_t> path;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    path.clear();
    for (const std::uint32_t arc : tree.path(edge)) path.push_back(offset + arc);
    add_edge(path);
  }
  amounts.insert(amounts.end(), tree.amounts.begin(), tree.amounts.end());
}

}  // namespace espalier::lp
