// The cheapest tree from a root that changes from tree to tree, or that all trees have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lp/graph/digraph.hpp"
#include "lp/graph/min_cost_arborescence.hpp"
#include "lp/packing/root_trees.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

class CheapestFrom {
 public:
  // graph: without relays. only_root: reaches all other hosts; unset: roots may be any hosts, and
  // each reaches every other. This and solve throw LimitReached when the deadline passes.
  CheapestFrom(const Digraph& graph, std::optional<std::uint32_t> only_root,
               const Deadline& deadline) {
    if (only_root) {
      from_one_.emplace(graph.node_count, graph.tail, graph.head, *only_root, deadline);
    } else {
      from_each_.emplace(graph, deadline);
    }
  }

  // The arcs of the cheapest tree from this root, by their heads, ascending. cost: per arc,
  // finite. Empty: some host cannot be reached. Valid until the next call.
  std::span<const std::uint32_t> solve(std::uint32_t root, std::span<const double> cost) {
    if (from_one_) return from_one_->solve(cost);
    tree_ = from_each_->solve(cost) ? from_each_->tree_from(root) : RoutedTree{};
    return tree_.arcs;
  }

 private:
  std::optional<MinCostArborescence> from_one_;
  std::optional<TreesFromEach> from_each_;
  RoutedTree tree_;
};

}  // namespace espalier::lp
