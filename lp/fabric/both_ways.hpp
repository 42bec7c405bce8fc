// A network on which every tree carries data both ways, as an allreduce whose reduction goes along
// the broadcast's trees reversed.
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
  // Keeps references to the graph of `single`. Unset: some arc has none back.
  static std::optional<BothWays> of(const PackingProblem& single);

  // Every arc occupies what the arc back does, too. The result refers to this object.
  [[nodiscard]] PackingProblem problem() const { return {*graph_, root_, occupation_}; }
  // The tree's edges from child to parent, along the arcs back.
  [[nodiscard]] RoutedTree back(const RoutedTree& tree) const;

 private:
  BothWays(const PackingProblem& single, std::vector<std::uint32_t> reverse);

  const Digraph* graph_;
  std::uint32_t root_;
  std::vector<std::uint32_t> reverse_;  // per arc
  SparseMatrix occupation_;
};

}  // namespace espalier::lp
