// A network on which every tree carries data both ways, as an allreduce whose reduction goes along
// the broadcast's trees reversed (docs/model.md, "The same trees both ways").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// Per arc: an arc back, kNone where there is none.
std::vector<std::uint32_t> reverse_arcs(const Digraph& graph);

class BothWays {
 public:
  // Keeps references to the graph and the matrix of `single`. Unset: some arc has none back.
  static std::optional<BothWays> of(const PackingProblem& single);

  // Every arc occupies what the arc back does, too. The result refers to this object.
  [[nodiscard]] PackingProblem problem() const { return {*graph_, root_, occupation_}; }
  // The tree's edges from child to parent, along the arcs back; and the other way round.
  [[nodiscard]] RoutedTree back(const RoutedTree& tree) const;

  // The same edges from another root.
  [[nodiscard]] RoutedTree from(const RoutedTree& tree, std::uint32_t root) const;
  // The host from which a segment has soonest reached all others (lp/graph/tree_routes.hpp).
  [[nodiscard]] std::uint32_t middle_of(const RoutedTree& tree) const;

  // Where the network is the same with all arcs reversed, as arcs back have the same latencies, and
  // of each resource there is one that they occupy as the arcs do the resource: per resource, that
  // one. Then trees that differ by direction are no better than those that go both ways. Empty: it
  // is not the same.
  [[nodiscard]] std::vector<std::uint32_t> counterparts() const;

 private:
  BothWays(const PackingProblem& single, std::vector<std::uint32_t> reverse);

  const Digraph* graph_;
  const SparseMatrix* single_occupation_;
  std::uint32_t root_;
  std::vector<std::uint32_t> reverse_;  // per arc
  SparseMatrix occupation_;
};

}  // namespace espalier::lp
