// The cheapest trees of parts with different roots. One run of Edmonds' algorithm gives the trees
// of all roots of a graph (lp/graph/contraction.hpp, costs_from_each).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "lp/packing/cheapest_tree.hpp"

namespace espalier::lp {

// Two parts, whose common root is any host (PackingProblem::root_arcs): the root r that minimises
// up(r) + down(r), the costs of the cheapest tree of either part.
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

// The cheapest trees of a graph from each of its hosts.
class TreesFromEach {
 public:
  // graph: arcs to each host from a node that stands for the root are added. This and solve throw
  // LimitReached when the deadline passes.
  explicit TreesFromEach(Digraph graph, const Deadline& deadline = Deadline());

  // The number of arcs that were given.
  [[nodiscard]] std::size_t arc_count() const { return arcs_; }
  // cost: of these arcs, finite. False: some host cannot be reached from anywhere.
  bool solve(std::span<const double> cost);
  // After it: the cost of the cheapest tree from this host; infinite unless each host reaches every
  // other.
  [[nodiscard]] double cost_from(std::uint32_t host) const { return from_each_[host]; }
  // That tree, where the cost is finite.
  RoutedTree tree_from(std::uint32_t host);

 private:
  std::uint32_t arcs_;
  Digraph graph_;
  std::vector<std::uint32_t> arc_to_;     // per node: that from the root; kNone for relays
  std::optional<CheapestTree> cheapest_;  // refers to graph_
  std::vector<double> cost_;              // per arc of graph_
  std::vector<double> from_each_;         // per node
};

// Many parts that are copies of one graph, each with a root of its own
// (PackingProblem::part_roots), which would otherwise need one run each.
class AllRootsTree {
 public:
  // This and solve throw LimitReached when the deadline passes.
  explicit AllRootsTree(const PackingProblem& problem, const Deadline& deadline = Deadline());

  // The number of arcs whose costs are read: those of the first part.
  [[nodiscard]] std::size_t arc_count() const { return from_each_.arc_count(); }
  // cost: of these arcs, >= 0. The tree is in arcs of the problem's graph. Nothing where some host
  // does not reach all others, although the parts' roots may.
  std::optional<PricedTree> solve(std::span<const double> cost);

 private:
  std::vector<PartRoot> roots_;
  TreesFromEach from_each_;   // of one part
  std::vector<double> cost_;  // per arc of it
};

}  // namespace espalier::lp
