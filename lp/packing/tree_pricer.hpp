// From resource prices to the cheapest spanning tree.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "lp/packing/cheapest_tree.hpp"
#include "lp/packing/root_trees.hpp"
#include "lp/steiner/cheapest_member_tree.hpp"

namespace espalier::lp {

class TreePricer {
 public:
  // This and cheapest_tree throw LimitReached when the deadline passes.
  explicit TreePricer(const PackingProblem& problem, const Deadline& deadline = Deadline());

  // prices: per resource, >= 0. A tree that minimises prices' A x, and that minimum; where the root
  // is free, the tree is near it. Throws InfeasibleError when some host cannot be reached.
  PricedTree cheapest_tree(std::span<const double> prices);

 private:
  [[nodiscard]] std::optional<PricedTree> cheapest();

  const PackingProblem* problem_;
  Deadline deadline_;
  std::optional<CheapestTree> from_root_;
  std::optional<AnyRootTree> from_any_root_;      // instead, where the root is free
  std::optional<AllRootsTree> from_all_roots_;    // or where parts are copies of one graph
  std::optional<CheapestMemberTree> to_members_;  // or where trees lead to some hosts only
  std::vector<double> arc_cost_;
};

}  // namespace espalier::lp
