// The cheapest tree of two parts whose common root is any host (PackingProblem::root_arcs): the
// root r that minimises up(r) + down(r), the costs of the cheapest tree of either part. One run of
// Edmonds' algorithm gives the costs of all roots (lp/graph/contraction.hpp, costs_from_each).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "lp/packing/cheapest_tree.hpp"

namespace espalier::lp {

class AnyRootTree {
 public:
  // The problem has two parts, and root arcs. This and solve throw LimitReached when the deadline
  // passes.
  explicit AnyRootTree(const PackingProblem& problem, const Deadline& deadline = Deadline());

  // cost: per arc of the problem's graph, >= 0; of root arcs: not read. The tree is in arcs of that
  // graph. Nothing where no host reaches all others and is reached from them.
  std::optional<PricedTree> solve(std::span<const double> cost);

 private:
  // One of the two parts, as a graph of its own.
  struct Half {
    Digraph graph;
    std::optional<CheapestTree> cheapest;
    std::vector<double> cost;       // per arc of `graph`
    std::vector<double> from_each;  // per node of `graph`: the cost of the tree with this root
  };
  void take_part(const PackingProblem& problem, std::uint32_t part, const Deadline& deadline);
  [[nodiscard]] double cost_from(const Half& half, std::uint32_t root) const;

  std::uint32_t arcs_;   // of a part, root arcs included
  std::uint32_t roots_;  // root arcs, the last arcs of a part
  std::array<Half, 2> halves_;
};

}  // namespace espalier::lp
