// A spanning tree whose edges are paths of arcs: one arc each, or several where relays (or, for
// topology-oblivious trees, other hosts) lie between parent and child.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier::lp {

struct RoutedTree {
  // The paths of all edges, one after the other. Parent of edge i: tail of its first arc; child:
  // head of its last. A parent sends to its children in this order.
  std::vector<std::uint32_t> arcs;
  // Per edge, where its path ends in `arcs` (exclusive). Empty: every edge is one arc.
  std::vector<std::uint32_t> path_ends;
  // Per arc, how many bytes cross it for each byte of the tree. Empty: one, as in every tree whose
  // data is copied or combined.
  std::vector<double> amounts{};

  [[nodiscard]] double amount(std::size_t arc) const { return amounts.empty() ? 1 : amounts[arc]; }
  [[nodiscard]] std::size_t edge_count() const {
    return path_ends.empty() ? arcs.size() : path_ends.size();
  }
  [[nodiscard]] std::span<const std::uint32_t> path(std::size_t edge) const {
    if (path_ends.empty()) return {&arcs[edge], 1};
    const std::size_t first = edge == 0 ? 0 : path_ends[edge - 1];
    return {arcs.data() + first, path_ends[edge] - first};
  }
  // Appends an edge that runs along `path` (at least one arc). Precondition: no amounts.
  void add_edge(std::span<const std::uint32_t> path) {
    add_edge(path, [](std::uint32_t arc) { return arc; });
  }
  // The same along the arcs arc_of(arc), in the opposite direction if `reversed`.
  template <class ArcOf>
  void add_edge(std::span<const std::uint32_t> path, const ArcOf& arc_of, bool reversed = false) {
    if (path.size() > 1) record_ends();
    const bool routed = path.size() > 1 || !path_ends.empty();
    const std::size_t first = arcs.size();
    for (const std::uint32_t arc : path) arcs.push_back(arc_of(arc));
    if (reversed) std::reverse(arcs.begin() + static_cast<std::ptrdiff_t>(first), arcs.end());
    if (routed) path_ends.push_back(static_cast<std::uint32_t>(arcs.size()));
  }
  // Appends the edges of another tree, each as add_edge does.
  template <class ArcOf>
  void append(const RoutedTree& tree, const ArcOf& arc_of, bool reversed = false) {
    for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
      add_edge(tree.path(edge), arc_of, reversed);
    }
    amounts.insert(amounts.end(), tree.amounts.begin(), tree.amounts.end());
  }

  bool operator==(const RoutedTree&) const = default;

 private:
  // Where every edge was one arc so far: their ends.
  void record_ends();
};

}  // namespace espalier::lp
