#include "lp/problem/routes_problem.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "lp/problem/parts_problem.hpp"

namespace espalier::lp {

namespace {

// Dijkstra's algorithm, from one node; of equally cheap paths the one of the fewest arcs.
class ShortestPaths {
 public:
  // onward: the arcs by which the search leaves a node. next: per arc, the node that it leads to.
  ShortestPaths(const ArcsByEnd& onward, std::span<const std::uint32_t> next,
                std::span<const double> cost, std::uint32_t root)
      : distance_(onward.first.size() - 1, std::numeric_limits<double>::infinity()),
        hops_(distance_.size(), 0),
        arc_to_(distance_.size(), kNone) {
    using Entry = std::tuple<double, std::uint32_t, std::uint32_t>;  // cost, arcs, node
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::vector<char> is_settled(distance_.size(), 0);
    distance_[root] = 0;
    queue.emplace(0.0, 0, root);
    while (!queue.empty()) {
      const auto [so_far, hops, node] = queue.top();
      queue.pop();
      if (is_settled[node] != 0) continue;
      is_settled[node] = 1;
      order_.push_back(node);
      for (const std::uint32_t arc : onward.of(node)) {
        const std::uint32_t to = next[arc];
        const double through = so_far + cost[arc];
        if (is_settled[to] != 0 || through > distance_[to]) continue;
        if (through == distance_[to] && hops + 1 >= hops_[to]) continue;
        distance_[to] = through;
        hops_[to] = hops + 1;
        arc_to_[to] = arc;
        queue.emplace(through, hops + 1, to);
      }
    }
  }

  [[nodiscard]] double distance(std::uint32_t node) const { return distance_[node]; }
  // The last arc of its path; kNone: the root, or no path.
  [[nodiscard]] std::uint32_t arc_to(std::uint32_t node) const { return arc_to_[node]; }
  // The nodes that have paths; every node comes after those before it on its path.
  [[nodiscard]] std::span<const std::uint32_t> order() const { return order_; }

 private:
  std::vector<double> distance_;
  std::vector<std::uint32_t> hops_;
  std::vector<std::uint32_t> arc_to_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

RoutesProblem::RoutesProblem(const Digraph& graph, const SparseMatrix& occupation,
                             std::vector<RoutedParts> parts)
    : graph_(graph),
      occupation_(side_by_side(occupation, std::vector<double>(parts.size(), 1.0))),
      parts_(std::move(parts)),
      out_of_(graph.tail, graph.node_count),
      into_(graph.head, graph.node_count) {}

PackingProblem RoutesProblem::problem() const {
  return {graph_, parts_.front().root, occupation_, arc_count(), 0, this};
}

RoutesProblem::Direction RoutesProblem::direction_of(const RoutedParts& parts) const {
  if (parts.reversed) return {into_, graph_.tail, graph_.head};
  return {out_of_, graph_.head, graph_.tail};
}

std::optional<PricedTree> RoutesProblem::cheapest(std::span<const double> cost) const {
  PricedTree whole{{}, 0};
  std::vector<double> below;
  for (std::uint32_t p = 0; p < parts_.size(); ++p) {
    const RoutedParts& parts = parts_[p];
    const auto& [onward, next, before] = direction_of(parts);
    const ShortestPaths paths(onward, next, cost, parts.root);
    for (std::uint32_t node = 0; node < parts.bytes.size(); ++node) {
      if (parts.bytes[node] == 0) continue;
      if (paths.distance(node) == std::numeric_limits<double>::infinity()) return std::nullopt;
      whole.cost += parts.bytes[node] * paths.distance(node);
    }
    below = parts.bytes;
    const std::span<const std::uint32_t> order = paths.order();
    for (std::size_t i = order.size(); i-- > 1;) {
      below[before[paths.arc_to(order[i])]] += below[order[i]];
    }
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (below[order[i]] == 0) continue;
      whole.tree.arcs.push_back(p * arc_count() + paths.arc_to(order[i]));
      whole.tree.amounts.push_back(below[order[i]]);
    }
  }
  return whole;
}

std::vector<Route> RoutesProblem::routes_of(const RoutedTree& tree, std::uint32_t of) const {
  const RoutedParts& parts = parts_[of];
  const auto& [onward, next, before] = direction_of(parts);
  std::vector<std::uint32_t> arc_to(graph_.node_count, kNone);
  for (const std::uint32_t arc : tree.arcs) {
    if (arc / arc_count() == of) arc_to[next[arc % arc_count()]] = arc % arc_count();
  }
  std::vector<Route> routes;
  std::vector<std::uint32_t> path;
  std::vector<std::uint32_t> edge;
  for (std::uint32_t node = 0; node < parts.bytes.size(); ++node) {
    if (parts.bytes[node] == 0) continue;
    path.clear();
    for (std::uint32_t at = node; at != parts.root; at = before[arc_to[at]]) {
      path.push_back(arc_to[at]);
    }
    if (!parts.reversed) std::ranges::reverse(path);
    Route& route = routes.emplace_back(Route{node, {}});
    edge.clear();
    for (const std::uint32_t arc : path) {
      edge.push_back(arc);
      if (graph_.relay(graph_.head[arc])) continue;
      route.path.add_edge(edge);
      edge.clear();
    }
  }
  return routes;
}

}  // namespace espalier::lp
