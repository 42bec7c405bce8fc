#include "lp/packing/routes_problem.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "lp/packing/parts_problem.hpp"

namespace espalier::lp {

namespace {

// The arcs by the node at one of their ends.
template <class Adjacency>
Adjacency by_end(std::span<const std::uint32_t> end, std::uint32_t nodes) {
  Adjacency adjacency;
  adjacency.first.assign(nodes + 1, 0);
  for (const std::uint32_t node : end) ++adjacency.first[node + 1];
  std::partial_sum(adjacency.first.begin(), adjacency.first.end(), adjacency.first.begin());
  adjacency.arcs.resize(end.size());
  std::vector<std::uint32_t> next(adjacency.first.begin(), adjacency.first.end() - 1);
  for (std::uint32_t arc = 0; arc < end.size(); ++arc) adjacency.arcs[next[end[arc]]++] = arc;
  return adjacency;
}

// Dijkstra's algorithm, from one node; of equally cheap paths the one of the fewest arcs.
class ShortestPaths {
 public:
  // next: per arc, the node that it leads to, in the direction of the search.
  template <class Adjacency>
  ShortestPaths(const Adjacency& adjacency, std::span<const std::uint32_t> next,
                std::span<const double> cost, std::uint32_t root)
      : distance_(adjacency.first.size() - 1, std::numeric_limits<double>::infinity()),
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
      for (std::uint32_t i = adjacency.first[node]; i < adjacency.first[node + 1]; ++i) {
        const std::uint32_t arc = adjacency.arcs[i];
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
      out_(by_end<Adjacency>(graph.tail, graph.node_count)),
      in_(by_end<Adjacency>(graph.head, graph.node_count)) {}

PackingProblem RoutesProblem::problem() const {
  return {graph_, parts_.front().root, occupation_, arc_count(), 0, this};
}

std::optional<PricedTree> RoutesProblem::cheapest(std::span<const double> cost) const {
  PricedTree whole{{}, 0};
  std::vector<double> below;
  for (std::uint32_t p = 0; p < parts_.size(); ++p) {
    const RoutedParts& parts = parts_[p];
    const ShortestPaths paths(parts.reversed ? in_ : out_,
                              parts.reversed ? graph_.tail : graph_.head, cost, parts.root);
    const std::span<const std::uint32_t> before = parts.reversed ? graph_.head : graph_.tail;
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
  const std::span<const std::uint32_t> ahead = parts.reversed ? graph_.tail : graph_.head;
  const std::span<const std::uint32_t> before = parts.reversed ? graph_.head : graph_.tail;
  std::vector<std::uint32_t> arc_to(graph_.node_count, kNone);
  for (const std::uint32_t arc : tree.arcs) {
    if (arc / arc_count() == of) arc_to[ahead[arc % arc_count()]] = arc % arc_count();
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
    Route& route = routes.emplace_back(Route{of, node, {}});
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
