// Minimum-cost arborescence: the spanning tree rooted at `root`, all arcs pointing away from it, of
// least total cost, by Edmonds' contraction (docs/methods.md, "The cheapest arborescence"). Time
// O(m + k log n), k = arcs found to lie inside a component; solve() allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/contraction.hpp"
#include "lp/graph/digraph.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

class MinCostArborescence : private Contraction<MinCostArborescence> {
 public:
  // Arcs are (tail[e], head[e]); arcs into the root and self-loops are ignored.
  MinCostArborescence(std::uint32_t node_count, std::span<const std::uint32_t> tail,
                      std::span<const std::uint32_t> head, std::uint32_t root,
                      const Deadline& deadline = Deadline());

  // cost: per arc, finite. Returns the chosen arcs; the arc into node v is at the position of v
  // among the non-root nodes (ascending). Valid until the next call. Empty when some node cannot be
  // reached (or the root is the only node). Ties are broken deterministically; where a node is not
  // contracted, the arc with the smaller index is chosen. Throws LimitReached when the deadline
  // passes.
  std::span<const std::uint32_t> solve(std::span<const double> cost);

  // The cheapest trees of all nodes but the root, from each of them. cost: as of solve, except that
  // each arc out of the root costs more than all others together. from_each: per node, the cost of
  // its tree; all infinite unless each reaches every other. False: some node cannot be reached.
  bool solve_from_each(std::span<const double> cost, std::vector<double>& from_each);
  // After it: the tree from the head of `root_arc`, an arc out of the root that is chosen,
  // too. As the result of solve.
  std::span<const std::uint32_t> tree_from(std::uint32_t root_arc);

  // Of the last solve, summed over the chosen arcs.
  [[nodiscard]] double total_cost() const { return total_cost_; }

 private:
  friend class Contraction<MinCostArborescence>;
  struct InArc {
    double cost;
    std::uint32_t tail;
    std::uint32_t arc;
  };

  bool contract(std::span<const double> cost);
  std::span<const std::uint32_t> chosen_arcs();

  bool choose(std::uint32_t node);
  void open(std::uint32_t node);
  [[nodiscard]] double top_cost(std::uint32_t node) const { return in_arcs_[first_in_[node]].cost; }
  [[nodiscard]] std::uint32_t top_tail(std::uint32_t node) const {
    return in_arcs_[first_in_[node]].tail;
  }
  [[nodiscard]] std::uint32_t take_top(std::uint32_t node) const {
    return in_arcs_[first_in_[node]].arc;
  }
  bool drop_top(std::uint32_t node, std::uint32_t component);
  [[nodiscard]] std::uint32_t head_of(std::uint32_t arc) const { return head_[arc]; }
  void absorb(std::uint32_t /*component*/, std::uint32_t /*member*/, double /*shift*/) {}

  DeadlineWatch watch_;
  std::vector<std::uint32_t> first_in_;  // nodes + 1, into in_arcs_
  std::vector<InArc> in_arcs_;           // by head, the cheapest of those left first
  std::vector<std::uint32_t> in_end_;    // per contracted node: end of its arcs left
  std::vector<std::uint32_t> searches_;  // per contracted node; after kSearches a heap
  std::vector<std::uint32_t> arc_of_;    // in-arc position -> arc, in the original order
  std::vector<std::uint32_t> tail_of_;   // in-arc position -> tail, in the original order
  std::vector<std::uint32_t> head_;      // per arc

  std::vector<std::uint32_t> result_;
  double total_cost_ = 0;
};

}  // namespace espalier::lp
