#include "lp/packing/doubled_problem.hpp"

#include <vector>

namespace espalier::lp {

namespace {

SparseMatrix side_by_side(const SparseMatrix& matrix) {
  SparseMatrix twice(matrix.rows(), 2 * matrix.cols());
  twice.reserve(2 * matrix.nonZeros());
  for (Eigen::Index column = 0; column < twice.cols(); ++column) {
    twice.startVec(column);
    for (SparseMatrix::InnerIterator it(matrix, column % matrix.cols()); it; ++it) {
      twice.insertBack(it.row(), column) = it.value();
    }
  }
  twice.finalize();
  return twice;
}

}  // namespace

DoubledProblem::DoubledProblem(const PackingProblem& single)
    : arcs_(static_cast<std::uint32_t>(single.graph.arc_count())),
      root_(single.root),
      occupation_(side_by_side(single.occupation)) {
  const Digraph& graph = single.graph;
  const auto copy_of = [&](std::uint32_t node) {
    if (node == root_) return root_;
    return graph.node_count + node - (node > root_ ? 1 : 0);
  };
  graph_.node_count = 2 * graph.node_count - 1;
  graph_.tail = graph.tail;
  graph_.head = graph.head;
  for (std::uint32_t arc = 0; arc < arcs_; ++arc) {
    graph_.tail.push_back(copy_of(graph.head[arc]));
    graph_.head.push_back(copy_of(graph.tail[arc]));
  }
  graph_.latency_s = graph.latency_s;
  graph_.latency_s.insert(graph_.latency_s.end(), graph.latency_s.begin(), graph.latency_s.end());
  if (graph.is_relay.empty()) return;
  graph_.is_relay.assign(graph_.node_count, 0);
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    graph_.is_relay[node] = graph.is_relay[node];
    graph_.is_relay[copy_of(node)] = graph.is_relay[node];
  }
}

DoubledProblem::Halves DoubledProblem::split(const RoutedTree& tree) const {
  Halves halves;
  std::vector<std::uint32_t> path;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto whole = tree.path(edge);
    if (whole.front() < arcs_) {
      halves.down.add_edge(whole);
      continue;
    }
    path.assign(whole.rbegin(), whole.rend());
    for (std::uint32_t& arc : path) arc -= arcs_;
    halves.up.add_edge(path);
  }
  return halves;
}

RoutedTree DoubledProblem::join(const Halves& halves) const {
  RoutedTree tree = halves.down;
  std::vector<std::uint32_t> path;
  for (std::size_t edge = 0; edge < halves.up.edge_count(); ++edge) {
    const auto up = halves.up.path(edge);
    path.assign(up.rbegin(), up.rend());
    for (std::uint32_t& arc : path) arc += arcs_;
    tree.add_edge(path);
  }
  return tree;
}

}  // namespace espalier::lp
