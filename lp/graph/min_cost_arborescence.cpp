#include "lp/graph/min_cost_arborescence.hpp"

#include <algorithm>
#include <cassert>

namespace espalier::lp {

namespace {

enum State : std::uint8_t { kUnseen, kOnPath, kFinished };

struct Dearer {
  template <class InArc>
  bool operator()(const InArc& a, const InArc& b) const {
    return a.cost > b.cost || (a.cost == b.cost && a.arc > b.arc);
  }
};

}  // namespace

MinCostArborescence::MinCostArborescence(std::uint32_t node_count,
                                         std::span<const std::uint32_t> tail,
                                         std::span<const std::uint32_t> head, std::uint32_t root,
                                         const Deadline& deadline)
    : watch_(deadline),
      node_count_(node_count),
      root_(root),
      first_in_(node_count + 1, 0),
      in_end_(node_count, 0),
      head_(head.begin(), head.end()) {
  const auto wanted = [&](std::size_t arc) { return head[arc] != root && tail[arc] != head[arc]; };
  for (std::size_t arc = 0; arc < head.size(); ++arc) {
    watch_.require(1);
    if (wanted(arc)) ++first_in_[head[arc] + 1];
  }
  for (std::uint32_t node = 0; node < node_count; ++node) first_in_[node + 1] += first_in_[node];
  watch_.require(head.size());
  arc_of_.resize(first_in_[node_count]);
  tail_of_.resize(arc_of_.size());
  std::vector<std::uint32_t> next(first_in_.begin(), first_in_.end() - 1);
  for (std::uint32_t arc = 0; arc < head.size(); ++arc) {
    watch_.require(1);
    if (!wanted(arc)) continue;
    const std::uint32_t position = next[head[arc]]++;
    arc_of_[position] = arc;
    tail_of_[position] = tail[arc];
  }
  watch_.require(head.size());
  in_arcs_.resize(arc_of_.size());
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
  result_.reserve(node_count);
}

void MinCostArborescence::reset(std::span<const double> cost) {
  for (std::size_t position = 0; position < arc_of_.size(); ++position) {
    watch_.require(1);
    in_arcs_[position] = {cost[arc_of_[position]], tail_of_[position], arc_of_[position]};
  }
  for (std::uint32_t node = 0; node < node_count_; ++node) {
    find_[node] = node;
    parent_[node] = kNone;
    state_[node] = kUnseen;
  }
  component_count_ = node_count_;
  state_[root_] = kFinished;
  path_.clear();
}

std::span<const std::uint32_t> MinCostArborescence::solve(std::span<const double> cost) {
  reset(cost);
  result_.clear();
  total_cost_ = 0;
  for (std::uint32_t node = 0; node < node_count_; ++node) {
    if (state_[component_of(node)] != kFinished && !grow_from(node)) return {};
  }
  expand();
  for (std::uint32_t node = 0; node < node_count_; ++node) {
    if (node == root_) continue;
    result_.push_back(chosen_[node]);
    total_cost_ += cost[chosen_[node]];
  }
  return result_;
}

std::uint32_t MinCostArborescence::component_of(std::uint32_t node) {
  while (find_[node] != node) {
    find_[node] = find_[find_[node]];
    node = find_[node];
  }
  return node;
}

// Extends the path backwards from `start` until it meets a finished component; false: impossible.
bool MinCostArborescence::grow_from(std::uint32_t start) {
  std::uint32_t component = component_of(start);
  while (state_[component] != kFinished) {
    if (state_[component] == kOnPath) {
      component = contract(component);
    }
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

// Sets chosen_ and chosen_cost_ of the component; returns the arc's tail, kNone when no arc enters
// it.
std::uint32_t MinCostArborescence::choose_in_arc(std::uint32_t component) {
  if (component < node_count_) return scan_in_arcs(component);
  std::uint32_t top = queue_[component];
  while (top != kNone) {
    const InArc& cheapest = in_arcs_[first_in_[top]];
    if (component_of(cheapest.tail) != component) {
      chosen_[component] = cheapest.arc;
      chosen_cost_[component] = heap_[top].key;
      queue_[component] = top;
      return cheapest.tail;
    }
    top = drop_cheapest_arc(top);
  }
  queue_[component] = kNone;
  return kNone;
}

std::uint32_t MinCostArborescence::scan_in_arcs(std::uint32_t node) {
  const std::uint32_t first = first_in_[node];
  const std::uint32_t last = first_in_[node + 1];
  if (first == last) return kNone;
  watch_.require(last - first);
  std::uint32_t best = first;
  for (std::uint32_t position = first + 1; position < last; ++position) {
    if (in_arcs_[position].cost < in_arcs_[best].cost) best = position;
  }
  chosen_[node] = in_arcs_[best].arc;
  chosen_cost_[node] = in_arcs_[best].cost;
  return in_arcs_[best].tail;
}

// The end of the path, from `closing_component` on, is a cycle: contracts it to one component.
std::uint32_t MinCostArborescence::contract(std::uint32_t closing_component) {
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
    if (member < node_count_) {
      make_queue(member, -chosen_cost_[member]);
      queue = meld(queue, member);
    } else {
      const std::uint32_t top = queue_[member];
      heap_[top].key -= chosen_cost_[member];
      heap_[top].offset -= chosen_cost_[member];
      queue = meld(queue, top);
    }
  }
  queue_[cycle] = queue;
  return cycle;
}

void MinCostArborescence::make_queue(std::uint32_t node, double shift) {
  const auto first = in_arcs_.begin() + first_in_[node];
  in_end_[node] = first_in_[node + 1];
  watch_.require(std::size_t{4} * (first_in_[node + 1] - first_in_[node]));
  std::make_heap(first, in_arcs_.begin() + in_end_[node], Dearer{});
  // Arc costs inside a node's heap are unchanged; the shift is in the node's key.
  heap_[node] = {first->cost + shift, shift, kNone, kNone};
}

// Links the root with the larger key under the other. A node's true key is its key plus the offsets
// of its ancestors; a root has none, so its key is true. offset also holds the shift of the node's
// own arcs while it is a root.
std::uint32_t MinCostArborescence::meld(std::uint32_t a, std::uint32_t b) {
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
std::uint32_t MinCostArborescence::remove_top(std::uint32_t top) {
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

// The cheapest arc of the heap's root lies inside the component: drops it and restores the order.
std::uint32_t MinCostArborescence::drop_cheapest_arc(std::uint32_t top) {
  watch_.require(16);
  const auto first = in_arcs_.begin() + first_in_[top];
  std::pop_heap(first, in_arcs_.begin() + in_end_[top], Dearer{});
  --in_end_[top];
  const std::uint32_t rest = remove_top(top);
  if (in_end_[top] == first_in_[top]) return rest;
  heap_[top].key = first->cost + heap_[top].offset;
  return meld(rest, top);
}

// Top down: the arc that enters a contracted cycle replaces the chosen arc of every component that
// it enters.
void MinCostArborescence::expand() {
  for (std::uint32_t component = component_count_; component-- > node_count_;) {
    if (state_[component] == kUnseen) continue;  // already entered by an outer cycle's arc
    const std::uint32_t arc = chosen_[component];
    for (std::uint32_t inner = head_[arc]; inner != component; inner = parent_[inner]) {
      chosen_[inner] = arc;
      if (inner >= node_count_) state_[inner] = kUnseen;
    }
  }
}

}  // namespace espalier::lp
