#include "lp/graph/tree_routes.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "lp/graph/host_arcs.hpp"

namespace espalier::lp {

namespace {

// The length of the longest path from the root to a host, where an edge has the `length` of its
// path.
template <class Length>
double longest_path(const Digraph& graph, std::uint32_t root, const RoutedTree& tree,
                    Length length) {
  std::vector<std::pair<std::uint32_t, double>> above(graph.node_count, {root, 0.0});
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto path = tree.path(edge);
    above[graph.head[path.back()]] = {graph.tail[path.front()], length(path)};
  }
  double longest = 0;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    double distance = 0;
    for (std::uint32_t at = graph.head[tree.path(edge).back()]; at != root; at = above[at].first) {
      distance += above[at].second;
    }
    longest = std::max(longest, distance);
  }
  return longest;
}

double latency_along(const Digraph& graph, std::span<const std::uint32_t> path) {
  double latency_s = 0;
  if (graph.latency_s.empty()) return latency_s;
  for (const std::uint32_t arc : path) latency_s += graph.latency_s[arc];
  return latency_s;
}

}  // namespace

std::uint32_t depth_of(const Digraph& graph, std::uint32_t root, const RoutedTree& tree) {
  return static_cast<std::uint32_t>(
      longest_path(graph, root, tree, [](const auto&) { return 1.0; }));
}

Seconds latency_of(const Digraph& graph, std::uint32_t root, const RoutedTree& tree) {
  return {longest_path(graph, root, tree,
                       [&](const auto& path) { return latency_along(graph, path); })};
}

Seconds segment_time_along(const Digraph& graph, const Eigen::SparseMatrix<double>& occupation,
                           std::span<const std::uint32_t> path) {
  std::vector<HostArcs::Use> uses;
  HostArcs::append_uses(occupation, path, uses);
  const auto most = std::ranges::max_element(uses, {}, &HostArcs::Use::seconds_per_byte);
  const double seconds_per_byte = most == uses.end() ? 0 : most->seconds_per_byte;
  return {latency_along(graph, path) + kHighLatencySegment * seconds_per_byte};
}

Seconds segment_travel_time(const Digraph& graph, const Eigen::SparseMatrix<double>& occupation,
                            std::uint32_t root, const RoutedTree& tree) {
  return {longest_path(graph, root, tree, [&](const auto& path) {
    return segment_time_along(graph, occupation, path).value;
  })};
}

std::size_t out_degree_of(const Digraph& graph, const RoutedTree& tree) {
  std::vector<std::size_t> children(graph.node_count, 0);
  std::size_t most = 0;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    most = std::max(most, ++children[graph.tail[tree.path(edge).front()]]);
  }
  return most;
}

}  // namespace espalier::lp
