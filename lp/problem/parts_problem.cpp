#include "lp/problem/parts_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "support/errors.hpp"

namespace espalier::lp {

namespace {

std::vector<double> shares_of(std::span<const Part> parts) {
  std::vector<double> shares;
  for (const Part& part : parts) shares.push_back(part.share);
  return shares;
}

}  // namespace

SparseMatrix side_by_side(const SparseMatrix& matrix, std::span<const double> shares) {
  const auto copies = static_cast<Eigen::Index>(shares.size());
  constexpr Eigen::Index kMost = std::numeric_limits<SparseMatrix::StorageIndex>::max();
  if (copies > kMost / std::max<Eigen::Index>(1, matrix.nonZeros())) {
    throw InputError(
        fmt::format("the network is too large for this operation: {} links, and a part for each of "
                    "{} hosts",
                    matrix.cols(), copies));
  }
  SparseMatrix all(matrix.rows(), copies * matrix.cols());
  all.reserve(copies * matrix.nonZeros());
  for (Eigen::Index column = 0; column < all.cols(); ++column) {
    all.startVec(column);
    const double share = shares[static_cast<std::size_t>(column / matrix.cols())];
    for (SparseMatrix::InnerIterator it(matrix, column % matrix.cols()); it; ++it) {
      all.insertBack(it.row(), column) = it.value() * share;
    }
  }
  all.finalize();
  return all;
}

PartsProblem::PartsProblem(const Digraph& graph, const SparseMatrix& occupation,
                           std::vector<Part> parts)
    : PartsProblem(graph, occupation, std::move(parts), 0) {}

PartsProblem PartsProblem::with_any_root(const Digraph& graph, const SparseMatrix& occupation) {
  Digraph rooted = graph;
  const std::uint32_t root = rooted.node_count++;
  if (!rooted.is_relay.empty()) rooted.is_relay.push_back(0);
  for (std::uint32_t node = 0; node < root; ++node) {
    if (graph.relay(node)) continue;
    rooted.tail.push_back(root);
    rooted.head.push_back(node);
  }
  const auto arcs = static_cast<Eigen::Index>(rooted.arc_count());
  if (!rooted.latency_s.empty()) rooted.latency_s.resize(rooted.arc_count(), 0.0);
  SparseMatrix wider(occupation.rows(), arcs);
  wider.leftCols(occupation.cols()) = occupation;
  return {rooted, wider, {{root, true}, {root, false}}, graph.host_count()};
}

PartsProblem::PartsProblem(const Digraph& graph, const SparseMatrix& occupation,
                           std::vector<Part> parts, std::uint32_t root_arcs)
    : arcs_(static_cast<std::uint32_t>(graph.arc_count())),
      root_arcs_(root_arcs),
      parts_(std::move(parts)),
      occupation_(side_by_side(occupation, shares_of(parts_))) {
  const auto copies = static_cast<std::uint32_t>(parts_.size());
  const bool is_reversed = parts_.front().reversed;
  if (root_arcs == 0 &&
      std::ranges::all_of(parts_, [&](const Part& part) { return part.reversed == is_reversed; })) {
    for (const Part& part : parts_) part_roots_.push_back({part.root, part.share});
  }
  graph_.node_count = graph.node_count + (copies - 1) * (graph.node_count - 1);
  if (!graph.is_relay.empty()) graph_.is_relay.assign(graph_.node_count, 0);
  for (std::uint32_t p = 0; p < copies; ++p) {
    const std::uint32_t root = parts_[p].root;
    const std::uint32_t first = graph.node_count + (p - 1) * (graph.node_count - 1);
    const auto copy_of = [&](std::uint32_t node) {
      if (node == root) return parts_.front().root;
      return p == 0 ? node : first + node - (node > root ? 1 : 0);
    };
    for (std::uint32_t arc = 0; arc < arcs_; ++arc) {
      // Those of a root that is not a host lead away from it in every part.
      const bool turns = parts_[p].reversed && arc < arcs_ - root_arcs_;
      graph_.tail.push_back(copy_of(turns ? graph.head[arc] : graph.tail[arc]));
      graph_.head.push_back(copy_of(turns ? graph.tail[arc] : graph.head[arc]));
    }
    graph_.latency_s.insert(graph_.latency_s.end(), graph.latency_s.begin(), graph.latency_s.end());
    for (std::uint32_t node = 0; node < graph.is_relay.size(); ++node) {
      graph_.is_relay[copy_of(node)] = graph.is_relay[node];
    }
  }
}

std::vector<RoutedTree> PartsProblem::split(const RoutedTree& tree) const {
  std::vector<RoutedTree> trees(parts_.size());
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto path = tree.path(edge);
    const std::uint32_t part = path.front() / arcs_;
    if (root_number(path.front(), arcs_, root_arcs_) != kNone) continue;  // not a host's
    trees[part].add_edge(
        path, [&](std::uint32_t arc) { return arc - part * arcs_; }, parts_[part].reversed);
  }
  return trees;
}

RoutedTree PartsProblem::join(std::span<const RoutedTree> trees, std::uint32_t root) const {
  RoutedTree whole;
  for (std::uint32_t p = 0; p < trees.size(); ++p) {
    if (root_arcs_ > 0) whole.add_edge(std::array{(p + 1) * arcs_ - root_arcs_ + root});
    whole.append(
        trees[p], [&](std::uint32_t arc) { return p * arcs_ + arc; }, parts_[p].reversed);
  }
  return whole;
}

std::uint32_t PartsProblem::root_of(const RoutedTree& tree) const {
  return free_root_of(tree, arcs_, root_arcs_);
}

}  // namespace espalier::lp
