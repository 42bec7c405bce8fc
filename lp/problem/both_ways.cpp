#include "lp/problem/both_ways.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "lp/graph/tree_routes.hpp"

namespace espalier::lp {

namespace {

// The edges of a tree at each host.
class EdgesOf {
 public:
  EdgesOf(const Digraph& graph, const RoutedTree& tree) : at_(graph.node_count) {
    for (std::uint32_t edge = 0; edge < tree.edge_count(); ++edge) {
      const auto path = tree.path(edge);
      parent_.push_back(graph.tail[path.front()]);
      child_.push_back(graph.head[path.back()]);
      at_[parent_.back()].push_back(edge);
      at_[child_.back()].push_back(edge);
    }
  }
  [[nodiscard]] std::span<const std::uint32_t> at(std::uint32_t host) const { return at_[host]; }
  [[nodiscard]] std::uint32_t child(std::uint32_t edge) const { return child_[edge]; }
  [[nodiscard]] std::uint32_t other_end(std::uint32_t edge, std::uint32_t host) const {
    return parent_[edge] == host ? child_[edge] : parent_[edge];
  }

 private:
  std::vector<std::vector<std::uint32_t>> at_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> child_;
};

}  // namespace

std::vector<std::uint32_t> reverse_arcs(const Digraph& graph) {
  std::vector<std::vector<std::uint32_t>> out(graph.node_count);
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) out[graph.tail[arc]].push_back(arc);
  std::vector<std::uint32_t> reverse;
  for (std::uint32_t arc = 0; arc < graph.arc_count(); ++arc) {
    const auto& back = out[graph.head[arc]];
    const auto its = std::ranges::find(back, graph.tail[arc],
                                       [&](std::uint32_t one) { return graph.head[one]; });
    reverse.push_back(its == back.end() ? kNone : *its);
  }
  return reverse;
}

std::optional<BothWays> BothWays::of(const PackingProblem& single) {
  std::vector<std::uint32_t> reverse = reverse_arcs(single.graph);
  if (std::ranges::find(reverse, kNone) != reverse.end()) return std::nullopt;
  return BothWays(single, std::move(reverse));
}

BothWays::BothWays(const PackingProblem& single, std::vector<std::uint32_t> reverse)
    : graph_(&single.graph),
      single_occupation_(&single.occupation),
      root_(single.root),
      reverse_(std::move(reverse)) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::uint32_t arc = 0; arc < reverse_.size(); ++arc) {
    for (const std::uint32_t used : {arc, reverse_[arc]}) {
      for (SparseMatrix::InnerIterator it(single.occupation, static_cast<Eigen::Index>(used)); it;
           ++it) {
        entries.emplace_back(it.row(), static_cast<Eigen::Index>(arc), it.value());
      }
    }
  }
  occupation_.resize(single.occupation.rows(), single.occupation.cols());
  occupation_.setFromTriplets(entries.begin(), entries.end());
}

RoutedTree BothWays::back(const RoutedTree& tree) const {
  RoutedTree back;
  std::vector<std::uint32_t> path;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto there = tree.path(edge);
    path.assign(there.rbegin(), there.rend());
    for (std::uint32_t& arc : path) arc = reverse_[arc];
    back.add_edge(path);
  }
  return back;
}

RoutedTree BothWays::from(const RoutedTree& tree, std::uint32_t root) const {
  const EdgesOf edges(*graph_, tree);
  const RoutedTree reversed = back(tree);
  RoutedTree from;
  std::vector<char> is_done(tree.edge_count(), 0);
  std::vector<std::uint32_t> walk{root};
  for (std::size_t i = 0; i < walk.size(); ++i) {
    for (const std::uint32_t edge : edges.at(walk[i])) {
      if (std::exchange(is_done[edge], 1) != 0) continue;
      const std::uint32_t next = edges.other_end(edge, walk[i]);
      from.add_edge(next == edges.child(edge) ? tree.path(edge) : reversed.path(edge));
      walk.push_back(next);
    }
  }
  return from;
}

std::uint32_t BothWays::middle_of(const RoutedTree& tree) const {
  const EdgesOf edges(*graph_, tree);
  std::vector<double> length;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    length.push_back(segment_time_along(*graph_, *single_occupation_, tree.path(edge)).value);
  }
  // The middle of a longest path, which leads between hosts that are farthest from each other.
  std::vector<double> distance(graph_->node_count);
  std::vector<std::uint32_t> before(graph_->node_count);
  const auto farthest_from = [&](std::uint32_t start) {
    std::vector<std::uint32_t> walk{start};
    distance[start] = 0;
    before[start] = kNone;
    std::uint32_t farthest = start;
    for (std::size_t i = 0; i < walk.size(); ++i) {
      const std::uint32_t node = walk[i];
      if (distance[node] > distance[farthest]) farthest = node;
      for (const std::uint32_t edge : edges.at(node)) {
        const std::uint32_t next = edges.other_end(edge, node);
        if (next == before[node]) continue;
        before[next] = node;
        distance[next] = distance[node] + length[edge];
        walk.push_back(next);
      }
    }
    return farthest;
  };
  std::uint32_t middle = farthest_from(farthest_from(root_));
  const double whole = distance[middle];
  const auto to_last = [&](std::uint32_t node) {
    return std::max(distance[node], whole - distance[node]);
  };
  while (before[middle] != kNone && to_last(before[middle]) < to_last(middle)) {
    middle = before[middle];
  }
  return middle;
}

std::vector<std::uint32_t> BothWays::counterparts() const {
  const std::vector<double>& latency = graph_->latency_s;
  for (std::uint32_t arc = 0; arc < latency.size(); ++arc) {
    if (latency[arc] != latency[reverse_[arc]]) return {};
  }
  const Eigen::SparseMatrix<double, Eigen::RowMajor> by_row = *single_occupation_;
  using Uses = std::vector<std::pair<std::uint32_t, double>>;  // arcs, with seconds per byte
  const auto uses_of_row = [&](Eigen::Index row, bool reversed) {
    Uses uses;
    for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator it(by_row, row); it; ++it) {
      const auto arc = static_cast<std::uint32_t>(it.col());
      uses.emplace_back(reversed ? reverse_[arc] : arc, it.value());
    }
    std::ranges::sort(uses);
    return uses;
  };
  std::vector<std::uint32_t> counterparts;
  for (Eigen::Index row = 0; row < by_row.rows(); ++row) {
    const Uses wanted = uses_of_row(row, true);
    std::uint32_t found = wanted.empty() ? static_cast<std::uint32_t>(row) : kNone;
    if (found == kNone) {
      for (auto it = uses_of(*single_occupation_, wanted.front().first); it && found == kNone;
           ++it) {
        if (uses_of_row(it.row(), false) == wanted) found = static_cast<std::uint32_t>(it.row());
      }
    }
    if (found == kNone) return {};
    counterparts.push_back(found);
  }
  return counterparts;
}

}  // namespace espalier::lp
