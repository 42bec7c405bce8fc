// Both halves of an allreduce as one packing problem.
//
// What is combined along a tree towards the root goes out again along another tree. Take two copies
// of the graph that have the root in common, turn the arcs of one of them round, and let both
// copies of an arc occupy what the arc occupies. A spanning arborescence of that graph is a tree
// out of the root and a tree into it; so the packing of such arborescences is the best allreduce,
// and prices on the resources prove it as they do for a broadcast (docs/model.md, "Reduce and
// allreduce").
#pragma once

#include <cstdint>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

class DoubledProblem {
 public:
  // Copies what it needs. Arc e of the single graph is arc e of the copy that is broadcast along,
  // and arc m + e, reversed, of the copy that is reduced along (m arcs); nodes of the first
  // copy keep their numbers. Rows are the single problem's.
  explicit DoubledProblem(const PackingProblem& single);

  // Refers to this. Every host reaches the root and is reached from it, or no tree spans it.
  [[nodiscard]] PackingProblem problem() const { return {graph_, root_, occupation_, arcs_}; }

  // Both in arcs of the single graph, in the direction in which data crosses them: the edges of
  // `up` run from child to parent, those of `down` from parent to child. Parents' edges come first
  // in both, as they do in the whole.
  struct Halves {
    RoutedTree up;
    RoutedTree down;
  };
  [[nodiscard]] Halves split(const RoutedTree& tree) const;
  [[nodiscard]] RoutedTree join(const Halves& halves) const;

 private:
  std::uint32_t arcs_;  // of the single graph
  std::uint32_t root_;
  Digraph graph_;
  SparseMatrix occupation_;
};

}  // namespace espalier::lp
