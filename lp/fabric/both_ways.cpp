#include "lp/fabric/both_ways.hpp"

#include <algorithm>
#include <utility>

namespace espalier::lp {

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
    : graph_(&single.graph), root_(single.root), reverse_(std::move(reverse)) {
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

}  // namespace espalier::lp
