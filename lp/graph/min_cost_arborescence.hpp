// Minimum-cost arborescence: the spanning tree rooted at `root`, all arcs pointing away from it, of
// least total cost, by Edmonds' contraction (docs/methods.md, "The cheapest arborescence"). Time
// O(m + k log n), k = arcs found to lie inside a component; solve() allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/digraph.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

class MinCostArborescence {
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

  // Of the last solve, summed over the chosen arcs.
  [[nodiscard]] double total_cost() const { return total_cost_; }

 private:
  struct InArc {
    double cost;
    std::uint32_t tail;
    std::uint32_t arc;
  };
  // A contracted node's place in its component's pairing heap. key and offset as in
  // MinCostArborescence::meld.
  struct HeapNode {
    double key;     // cheapest in-arc, less the offsets of all ancestors
    double offset;  // to add to every descendant's key
    std::uint32_t child;
    std::uint32_t sibling;
  };

  void reset(std::span<const double> cost);
  std::uint32_t component_of(std::uint32_t node);
  bool grow_from(std::uint32_t start);
  std::uint32_t choose_in_arc(std::uint32_t component);
  std::uint32_t scan_in_arcs(std::uint32_t node);
  std::uint32_t contract(std::uint32_t closing_component);
  void expand();

  void make_queue(std::uint32_t node, double shift);
  std::uint32_t meld(std::uint32_t a, std::uint32_t b);
  std::uint32_t remove_top(std::uint32_t top);
  std::uint32_t drop_cheapest_arc(std::uint32_t top);

  DeadlineWatch watch_;
  std::uint32_t node_count_;
  std::uint32_t root_;
  std::vector<std::uint32_t> first_in_;  // nodes + 1, into in_arcs_
  std::vector<InArc> in_arcs_;           // by head; a contracted node's part is a heap
  std::vector<std::uint32_t> in_end_;    // per node: end of the rest of its heap
  std::vector<std::uint32_t> arc_of_;    // in-arc position -> arc, in the original order
  std::vector<std::uint32_t> tail_of_;   // in-arc position -> tail, in the original order
  std::vector<std::uint32_t> head_;      // per arc

  // Components: 0..n-1 are the nodes, n.. the contracted cycles.
  std::vector<std::uint32_t> find_;    // union-find over components, with path halving
  std::vector<std::uint32_t> parent_;  // contraction forest
  std::vector<std::uint32_t> chosen_;  // cheapest arc into the component
  std::vector<double> chosen_cost_;    // its reduced cost when it was chosen
  std::vector<std::uint32_t> queue_;   // per component >= n: root of its pairing heap, a node
  std::vector<std::uint8_t> state_;    // per component
  std::vector<std::uint32_t> path_;    // growing path of components, backwards
  std::vector<HeapNode> heap_;         // per node
  std::vector<std::uint32_t> scratch_;
  std::uint32_t component_count_ = 0;

  std::vector<std::uint32_t> result_;
  double total_cost_ = 0;
};

}  // namespace espalier::lp
