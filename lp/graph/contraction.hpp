// Edmonds' contraction for the cheapest arborescence (docs/methods.md, "The cheapest
// arborescence"), over arcs that a derived class keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "lp/graph/digraph.hpp"

namespace espalier::lp {

// Arcs, the derived class (a friend), has
//   bool choose(node)          whether an arc enters the node, not yet contracted, from another one
//   void open(node)            called once when the node is contracted, with `choose` just done
//   double top_cost(node)      of the cheapest arc left into the node
//   std::uint32_t top_tail(node)   kNone: what is on top is not an arc yet: drop it
//   std::uint32_t take_top(node)   a name for the arc on top, by which head_of knows it again
//   bool drop_top(node, component) takes the top away; whether an arc is left. It lies in, or is of
//                              no use to, the component.
//   std::uint32_t head_of(arc)
//   void absorb(component, member, shift)  the member joins; entering at it costs `shift` more
template <class Arcs>
class Contraction {
 protected:
  Contraction(std::uint32_t node_count, std::uint32_t root) : node_count_(node_count), root_(root) {
    // A contraction forest over n leaves whose inner nodes have two children or more: under 2 n
    // components.
    const std::size_t components = 2 * static_cast<std::size_t>(node_count) + 1;
    find_.resize(components);
    parent_.resize(components);
    chosen_.resize(components);
    chosen_cost_.resize(components);
    queue_.resize(components);
    state_.resize(components);
    heap_.resize(node_count);
    path_.reserve(components);
    scratch_.reserve(node_count);
  }

  // False: some node cannot be reached.
  bool contract_all() {
    reset();
    for (std::uint32_t node = 0; node < node_count_; ++node) {
      if (state_[component_of(node)] != kFinished && !grow_from(node)) return false;
    }
    return true;
  }

  // Once after contract_all. Afterwards chosen(node) is the arc into each node but the root. Top
  // down: the arc that enters a contracted cycle replaces the chosen arc of every component that it
  // enters.
  void expand() {
    for (std::uint32_t component = component_count_; component-- > node_count_;) {
      if (state_[component] == kUnseen) continue;  // already entered by an outer cycle's arc
      enter(component, chosen_[component]);
    }
  }
  // The same with `arc` as the root's only one, after costs_from_each, which gives a finite cost
  // for its head. Any number of times, each from another host.
  void expand_from(std::uint32_t arc) {
    chosen_ = contracted_chosen_;
    state_ = contracted_state_;
    const std::uint32_t outermost = component_count_ - 1;
    if (outermost < node_count_) {  // one node besides the root
      chosen_[arcs().head_of(arc)] = arc;
      return;
    }
    chosen_[outermost] = arc;
    expand();
  }

  // After contract_all, where each arc out of the root costs more than all others together. Per
  // node r: the cost of the cheapest tree of all nodes but the root, from r; all infinite unless
  // each of these nodes reaches every other. It is the sum of the dual variables of the contracted
  // sets without r (Edmonds, J. Res. Nat. Bur. Standards 71B, 1967), and these are the same for
  // every r.
  void costs_from_each(std::vector<double>& cost) {
    contracted_chosen_ = chosen_;
    contracted_state_ = state_;
    // From the sets that are contained in no other one to those within.
    scratch_costs_.assign(component_count_, 0.0);
    double all = 0;
    std::size_t outermost = 0;
    for (std::uint32_t component = component_count_; component-- > 0;) {
      if (component == root_) continue;
      if (parent_[component] == kNone) {
        ++outermost;
        continue;
      }
      all += chosen_cost_[component];
      scratch_costs_[component] = scratch_costs_[parent_[component]] + chosen_cost_[component];
    }
    cost.resize(node_count_);
    for (std::uint32_t node = 0; node < node_count_; ++node) {
      cost[node] = outermost == 1 ? all - scratch_costs_[node] : kInfinite;
    }
  }

  bool is_within(std::uint32_t component, std::uint32_t node) {
    return component_of(node) == component;
  }
  [[nodiscard]] std::uint32_t node_count() const { return node_count_; }
  [[nodiscard]] std::uint32_t root() const { return root_; }
  [[nodiscard]] std::uint32_t chosen(std::uint32_t node) const { return chosen_[node]; }

 private:
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();
  enum State : std::uint8_t { kUnseen, kOnPath, kFinished };
  // A contracted node's place in its component's pairing heap. key and offset as in meld.
  struct HeapNode {
    double key;     // cheapest in-arc, less the offsets of all ancestors
    double offset;  // to add to every descendant's key
    std::uint32_t child;
    std::uint32_t sibling;
  };

  Arcs& arcs() { return static_cast<Arcs&>(*this); }

  void reset() {
    for (std::uint32_t node = 0; node < node_count_; ++node) {
      find_[node] = node;
      parent_[node] = kNone;
      state_[node] = kUnseen;
    }
    component_count_ = node_count_;
    state_[root_] = kFinished;
    path_.clear();
  }

  std::uint32_t component_of(std::uint32_t node) {
    while (find_[node] != node) {
      find_[node] = find_[find_[node]];
      node = find_[node];
    }
    return node;
  }

  // Extends the path backwards from `start` until it meets a finished component; false: impossible.
  bool grow_from(std::uint32_t start) {
    std::uint32_t component = component_of(start);
    while (state_[component] != kFinished) {
      if (state_[component] == kOnPath) component = contract(component);
      const std::uint32_t tail = choose_in_arc(component);
      if (tail == kNone) return false;
      state_[component] = kOnPath;
      path_.push_back(component);
      component = component_of(tail);
    }
    for (const std::uint32_t on_path : path_) state_[on_path] = kFinished;
    path_.clear();
    return true;
  }

  // Sets chosen_ and chosen_cost_ of the component, and returns the arc's tail; kNone: no arc
  // enters it.
  std::uint32_t choose_in_arc(std::uint32_t component) {
    if (component < node_count_) {
      if (!arcs().choose(component)) return kNone;
      chosen_[component] = arcs().take_top(component);
      chosen_cost_[component] = arcs().top_cost(component);
      return arcs().top_tail(component);
    }
    std::uint32_t top = queue_[component];
    while (top != kNone) {
      const std::uint32_t tail = arcs().top_tail(top);
      if (tail != kNone && !is_within(component, tail)) {
        chosen_[component] = arcs().take_top(top);
        chosen_cost_[component] = heap_[top].key;
        queue_[component] = top;
        return tail;
      }
      top = drop_cheapest_arc(top, component);
    }
    queue_[component] = kNone;
    return kNone;
  }

  // The end of the path, from `closing_component` on, is a cycle: contracts it to one component.
  std::uint32_t contract(std::uint32_t closing_component) {
    const std::uint32_t cycle = component_count_++;
    find_[cycle] = cycle;
    parent_[cycle] = kNone;
    state_[cycle] = kUnseen;
    std::uint32_t queue = kNone;
    for (std::uint32_t member = kNone; member != closing_component;) {
      member = path_.back();
      path_.pop_back();
      find_[member] = cycle;
      parent_[member] = cycle;
      // Entering the cycle at this member saves the arc that was chosen into it.
      const double shift = -chosen_cost_[member];
      arcs().absorb(cycle, member, shift);
      std::uint32_t top = member;
      if (member < node_count_) {
        arcs().open(member);
        // Arc costs inside a node's heap are unchanged; the shift is in the node's key.
        heap_[member] = {arcs().top_cost(member) + shift, shift, kNone, kNone};
      } else {
        top = queue_[member];
        heap_[top].key += shift;
        heap_[top].offset += shift;
      }
      queue = meld(queue, top);
    }
    queue_[cycle] = queue;
    return cycle;
  }

  // Links the root with the larger key under the other. A node's true key is its key plus the
  // offsets of its ancestors; a root has none, so its key is true. offset also holds the shift of
  // the node's own arcs while it is a root.
  std::uint32_t meld(std::uint32_t a, std::uint32_t b) {
    if (a == kNone) return b;
    if (b == kNone) return a;
    if (heap_[b].key < heap_[a].key || (heap_[b].key == heap_[a].key && b < a)) std::swap(a, b);
    heap_[b].key -= heap_[a].offset;
    heap_[b].offset -= heap_[a].offset;
    heap_[b].sibling = heap_[a].child;
    heap_[a].child = b;
    return a;
  }

  // Takes the root away; returns the root of what its children make (two-pass pairing).
  std::uint32_t remove_top(std::uint32_t top) {
    const double offset = heap_[top].offset;
    scratch_.clear();
    for (std::uint32_t child = heap_[top].child; child != kNone;) {
      const std::uint32_t next = heap_[child].sibling;
      heap_[child].sibling = kNone;
      heap_[child].key += offset;
      heap_[child].offset += offset;
      scratch_.push_back(child);
      child = next;
    }
    heap_[top].child = kNone;
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < scratch_.size(); i += 2) {
      const std::uint32_t second = i + 1 < scratch_.size() ? scratch_[i + 1] : kNone;
      scratch_[pairs++] = meld(scratch_[i], second);
    }
    std::uint32_t merged = kNone;
    while (pairs > 0) merged = meld(merged, scratch_[--pairs]);
    return merged;
  }

  // The cheapest arc of the heap's root is of no use to the component: drops it and restores the
  // order.
  std::uint32_t drop_cheapest_arc(std::uint32_t top, std::uint32_t component) {
    const bool more = arcs().drop_top(top, component);
    const std::uint32_t rest = remove_top(top);
    if (!more) return rest;
    heap_[top].key = arcs().top_cost(top) + heap_[top].offset;
    return meld(rest, top);
  }

  void enter(std::uint32_t component, std::uint32_t arc) {
    for (std::uint32_t inner = arcs().head_of(arc); inner != component; inner = parent_[inner]) {
      chosen_[inner] = arc;
      if (inner >= node_count_) state_[inner] = kUnseen;
    }
  }

  std::uint32_t node_count_;
  std::uint32_t root_;
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
  std::vector<double> scratch_costs_;             // per component
  std::vector<std::uint32_t> contracted_chosen_;  // before any expansion
  std::vector<std::uint8_t> contracted_state_;
  std::uint32_t component_count_ = 0;
};

}  // namespace espalier::lp
