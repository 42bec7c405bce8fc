// Both halves of an allreduce as one packing problem: two copies of the graph that share the root,
// one of them reversed, on the same resources (docs/model.md, "Reduce and allreduce").
#pragma once

#include <cstdint>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

class DoubledProblem {
 public:
  // Copies what it needs. Arc e of the single graph, which has m arcs, is arc e of the broadcast's
  // copy and, reversed, arc m + e of the reduction's copy. Nodes of the broadcast's copy keep their
  // numbers. Rows are those of the single problem.
  explicit DoubledProblem(const PackingProblem& single);

  // The result refers to this object. A spanning tree exists only if every host reaches the root
  // and is reached from it.
  [[nodiscard]] PackingProblem problem() const { return {graph_, root_, occupation_, arcs_}; }

  // Both in arcs of the single graph, in the direction in which data crosses them: the edges of
  // `up` run from child to parent, those of `down` from parent to child. Parents' edges come first
  // in both, as in the whole tree.
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
