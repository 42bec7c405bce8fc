// A spanning tree along host arcs that searches change: the arc into each host, and its children in
// linked lists, the last one attached first.
#pragma once

#include <cstdint>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/graph/routed_tree.hpp"

namespace espalier::lp {

class RootedTree {
 public:
  // The root alone. Keeps a reference to `arcs`.
  RootedTree(const HostArcs& arcs, std::uint32_t root)
      : arcs_(&arcs),
        root_(root),
        parent_arc_(arcs.node_count(), kNone),
        first_child_(parent_arc_),
        next_(parent_arc_),
        before_(parent_arc_) {}

  [[nodiscard]] const HostArcs& arcs() const { return *arcs_; }
  [[nodiscard]] std::uint32_t root() const { return root_; }
  // kNone at the root, at relays, and at hosts that are not attached.
  [[nodiscard]] std::uint32_t parent_arc(std::uint32_t node) const { return parent_arc_[node]; }
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const {
    return arcs_->tail(parent_arc_[node]);
  }
  // kNone: there is none.
  [[nodiscard]] std::uint32_t first_child(std::uint32_t node) const { return first_child_[node]; }
  [[nodiscard]] std::uint32_t next_sibling(std::uint32_t node) const { return next_[node]; }

  // The root and all that are attached to it, each after its parent.
  [[nodiscard]] std::vector<std::uint32_t> nodes() const {
    std::vector<std::uint32_t> nodes{root_};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::uint32_t child = first_child(nodes[i]); child != kNone;
           child = next_sibling(child)) {
        nodes.push_back(child);
      }
    }
    return nodes;
  }
  [[nodiscard]] RoutedTree routed() const {
    RoutedTree routed;
    for (const std::uint32_t node : nodes()) {
      if (node != root_) arcs_->add_edge(parent_arc(node), routed);
    }
    return routed;
  }
  // Whether the path from the root to the first node contains the other, or ends there.
  [[nodiscard]] bool is_below(std::uint32_t node, std::uint32_t above) const {
    while (node != root_ && node != above) node = parent(node);
    return node == above;
  }

  // The arc's head, which has no parent, gets the arc's tail as its parent.
  void attach(std::uint32_t arc) {
    const std::uint32_t node = arcs_->head(arc);
    parent_arc_[node] = arc;
    std::uint32_t& first = first_child_[parent(node)];
    before_[node] = kNone;
    next_[node] = first;
    if (first != kNone) before_[first] = node;
    first = node;
  }
  // The same for a head that has another parent; the tail is not below it.
  void move(std::uint32_t arc) {
    const std::uint32_t node = arcs_->head(arc);
    (before_[node] == kNone ? first_child_[parent(node)] : next_[before_[node]]) = next_[node];
    if (next_[node] != kNone) before_[next_[node]] = before_[node];
    attach(arc);
  }

 private:
  const HostArcs* arcs_;
  std::uint32_t root_;
  std::vector<std::uint32_t> parent_arc_;
  std::vector<std::uint32_t> first_child_;
  std::vector<std::uint32_t> next_;    // sibling
  std::vector<std::uint32_t> before_;  // sibling
};

}  // namespace espalier::lp
