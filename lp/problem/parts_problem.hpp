// Several trees that carry one message together, as one packing problem: a copy of the graph for
// each part, reversed where that part's data goes towards its root, on the same resources. All
// copies share the root's node, so that a spanning tree is one tree of each part (docs/model.md,
// "Reduce and allreduce", "Every host is a root" and "Free roots").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

struct Part {
  std::uint32_t root;     // a host of the single graph
  bool reversed = false;  // data goes to the root
  double share = 1;       // bytes of this part for each byte of the message, > 0
};

// A copy of all columns for each share, times the share. Throws InputError (reason only) where
// there would be two thousand million entries.
SparseMatrix side_by_side(const SparseMatrix& matrix, std::span<const double> shares);

class PartsProblem {
 public:
  // Throws as side_by_side. Copies what it needs. Arc e of the single graph, which has m arcs, is
  // arc p m + e of the copy of part p. Nodes of the first copy keep their numbers. Rows are those
  // of `occupation`.
  PartsProblem(const Digraph& graph, const SparseMatrix& occupation, std::vector<Part> parts);
  // Two parts, of which the first is reversed, with any host as their common root: m above includes
  // the root's arcs to the hosts, which follow those of the graph in the order of the hosts.
  static PartsProblem with_any_root(const Digraph& graph, const SparseMatrix& occupation);

  // The result refers to this object. A spanning tree exists only if every host reaches the roots
  // of reversed parts, and is reached from those of others.
  [[nodiscard]] PackingProblem problem() const {
    return {graph_, parts_.front().root, occupation_, arcs_, root_arcs_, nullptr, {}, part_roots_};
  }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

  // One tree for each part, in arcs of the single graph, in the direction in which data crosses
  // them: the edges of a reversed part run from child to parent. Parents' edges come first, as in
  // the whole tree.
  [[nodiscard]] std::vector<RoutedTree> split(const RoutedTree& tree) const;
  // root: with any root, its number among the hosts.
  [[nodiscard]] RoutedTree join(std::span<const RoutedTree> trees, std::uint32_t root = 0) const;
  // With any root: the number of a tree's root among the hosts.
  [[nodiscard]] std::uint32_t root_of(const RoutedTree& tree) const;

 private:
  PartsProblem(const Digraph& graph, const SparseMatrix& occupation, std::vector<Part> parts,
               std::uint32_t root_arcs);

  std::uint32_t arcs_;           // of the single graph, and of the root
  std::uint32_t root_arcs_ = 0;  // of them
  std::vector<Part> parts_;
  std::vector<PartRoot> part_roots_;  // where all parts have the same direction
  Digraph graph_;
  SparseMatrix occupation_;
};

}  // namespace espalier::lp
