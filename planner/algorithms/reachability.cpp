#include "planner/algorithms/reachability.hpp"

#include <algorithm>

#include "lp/graph/digraph.hpp"

namespace espalier::planner {

Reachability::Reachability(const Instance& instance, const lp::HostArcs& arcs)
    : arcs_(arcs),
      source_(static_cast<std::uint32_t>(instance.source())),
      kept_(arcs.size(), 1),
      parent_arc_(arcs.node_count(), lp::kNone),
      children_(arcs.node_count()),
      mark_(arcs.node_count(), kOutside) {
  for (const platforms::NodeId host : instance.platform().hosts()) {
    mark_[index_of(host)] = kCutOff;
    below_.push_back(static_cast<std::uint32_t>(host));
  }
  mark_[source_] = kOutside;
  attach_from({source_});
  for (const std::uint32_t node : below_) {
    mark_[node] = kOutside;
    if (node != source_) children_[arcs.tail(parent_arc_[node])].push_back(parent_arc_[node]);
  }
}

bool Reachability::drop(std::uint32_t arc) {
  const std::uint32_t head = arcs_.head(arc);
  kept_[arc] = 0;
  if (parent_arc_[head] != arc) return true;
  collect_subtree(head);
  const std::vector<std::uint32_t> old_parents = parents_of_subtree();
  for (const std::uint32_t node : below_) parent_arc_[node] = lp::kNone;
  std::vector<std::uint32_t> frontier;
  for (const std::uint32_t node : below_) {
    for (const std::uint32_t in : arcs_.into(node)) {
      if (kept_[in] == 0 || mark_[arcs_.tail(in)] != kOutside) continue;
      parent_arc_[node] = in;
      frontier.push_back(node);
      break;
    }
  }
  for (const std::uint32_t node : frontier) mark_[node] = kAttached;
  attach_from(frontier);
  const bool whole = std::all_of(below_.begin(), below_.end(),
                                 [&](std::uint32_t node) { return mark_[node] == kAttached; });
  if (!whole) {
    kept_[arc] = 1;
    for (std::size_t i = 0; i < below_.size(); ++i) parent_arc_[below_[i]] = old_parents[i];
  }
  relink(old_parents);
  for (const std::uint32_t node : below_) mark_[node] = kOutside;
  return whole;
}

lp::RoutedTree Reachability::tree() const {
  lp::RoutedTree result;
  std::vector<std::uint32_t> order{source_};
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<std::uint32_t> arcs = children_[order[i]];
    std::sort(arcs.begin(), arcs.end());
    for (const std::uint32_t arc : arcs) {
      arcs_.add_edge(arc, result);
      order.push_back(arcs_.head(arc));
    }
  }
  return result;
}

void Reachability::collect_subtree(std::uint32_t top) {
  below_.assign(1, top);
  mark_[top] = kCutOff;
  for (std::size_t i = 0; i < below_.size(); ++i) {
    for (const std::uint32_t arc : children_[below_[i]]) {
      mark_[arcs_.head(arc)] = kCutOff;
      below_.push_back(arcs_.head(arc));
    }
  }
}

std::vector<std::uint32_t> Reachability::parents_of_subtree() const {
  std::vector<std::uint32_t> parents;
  for (const std::uint32_t node : below_) parents.push_back(parent_arc_[node]);
  return parents;
}

void Reachability::attach_from(std::vector<std::uint32_t> frontier) {
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    for (const std::uint32_t arc : arcs_.out_of(frontier[i])) {
      const std::uint32_t head = arcs_.head(arc);
      if (kept_[arc] == 0 || mark_[head] != kCutOff) continue;
      mark_[head] = kAttached;
      parent_arc_[head] = arc;
      frontier.push_back(head);
    }
  }
}

// Updates children_ for the new parents of the collected subtree.
void Reachability::relink(const std::vector<std::uint32_t>& old_parents) {
  for (std::size_t i = 0; i < below_.size(); ++i) {
    const std::uint32_t now = parent_arc_[below_[i]];
    if (now == old_parents[i]) continue;
    std::vector<std::uint32_t>& siblings = children_[arcs_.tail(old_parents[i])];
    siblings.erase(std::find(siblings.begin(), siblings.end(), old_parents[i]));
    children_[arcs_.tail(now)].push_back(now);
  }
}

}  // namespace espalier::planner
