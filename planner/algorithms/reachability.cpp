#include "planner/algorithms/reachability.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "lp/graph/digraph.hpp"

namespace espalier::planner {

Reachability::Reachability(const Instance& instance, const lp::HostArcs& arcs,
                           std::span<const std::uint32_t> order, const Deadline& deadline)
    : arcs_(arcs),
      source_(static_cast<std::uint32_t>(instance.source())),
      kept_(arcs.size(), 1),
      in_(arcs.node_count()),
      out_(arcs.node_count()),
      tree_(arcs, source_),
      mark_(arcs.node_count(), kOutside) {
  DeadlineWatch watch(deadline);
  std::vector<std::uint32_t> turn(order.size());  // per arc
  for (std::uint32_t i = 0; i < turn.size(); ++i) turn[order[i]] = i;
  const auto list = [&](std::span<const std::uint32_t> at_node, Bundle& bundle) {
    watch.require(16 * at_node.size());
    bundle.arcs.assign(at_node.begin(), at_node.end());
    bundle.remaining = at_node.size();
    std::sort(bundle.arcs.begin(), bundle.arcs.end(),
              [&](std::uint32_t a, std::uint32_t b) { return turn[a] > turn[b]; });
  };
  for (std::uint32_t node = 0; node < arcs.node_count(); ++node) {
    list(arcs.into(node), in_[node]);
    list(arcs.out_of(node), out_[node]);
  }
  span(turn, watch);
}

// The tree whose paths have arcs of late turns only, as far as possible: Prim's algorithm from the
// source.
void Reachability::span(const std::vector<std::uint32_t>& turn, DeadlineWatch& watch) {
  std::priority_queue<std::pair<std::uint32_t, std::uint32_t>> found;  // turn, arc
  const auto reach = [&](std::uint32_t node) {
    watch.require(16 * out_[node].arcs.size());
    for (const std::uint32_t arc : out_[node].arcs) {
      const std::uint32_t head = arcs_.head(arc);
      if (head != source_ && tree_.parent_arc(head) == lp::kNone) found.emplace(turn[arc], arc);
    }
  };
  reach(source_);
  while (!found.empty()) {
    const std::uint32_t arc = found.top().second;
    const std::uint32_t head = arcs_.head(arc);
    found.pop();
    if (tree_.parent_arc(head) != lp::kNone) continue;
    tree_.attach(arc);
    reach(head);
  }
}

bool Reachability::drop_all(std::span<const std::uint32_t> order, const Deadline& deadline) {
  DeadlineWatch watch(deadline);
  return std::all_of(order.begin(), order.end(), [&](std::uint32_t arc) {
    const std::size_t before = work_;
    drop(arc);
    return !watch.passed(work_ - before);
  });
}

bool Reachability::drop(std::uint32_t arc) {
  const std::uint32_t head = arcs_.head(arc);
  ++work_;
  if (tree_.parent_arc(head) == arc) {
    if (in_[head].remaining == 1) return false;
    kept_[arc] = 0;
    if (!move_alone(head) && !move_subtree(head)) {
      kept_[arc] = 1;
      return false;
    }
  }
  remove(arc);
  return true;
}

void Reachability::remove(std::uint32_t arc) {
  kept_[arc] = 0;
  remove_from(in_[arcs_.head(arc)]);
  remove_from(out_[arcs_.tail(arc)]);
}

// One arc of the bundle is no longer kept.
void Reachability::remove_from(Bundle& bundle) {
  constexpr std::size_t kFew = 8;
  --bundle.remaining;
  if (bundle.arcs.size() <= 2 * bundle.remaining + kFew) return;
  work_ += bundle.arcs.size();
  std::erase_if(bundle.arcs, [this](std::uint32_t arc) { return kept_[arc] == 0; });
}

bool Reachability::below(std::uint32_t node, std::uint32_t top) {
  while (node != top && node != source_) {
    node = tree_.parent(node);
    ++work_;
  }
  return node == top;
}

// Looks for another parent of the node itself among few arcs into it.
bool Reachability::move_alone(std::uint32_t node) {
  int tries = 8;
  for (const std::uint32_t in : in_[node].arcs) {
    ++work_;
    if (kept_[in] == 0) continue;
    if (tries-- == 0) return false;
    if (below(arcs_.tail(in), node)) continue;
    tree_.move(in);
    return true;
  }
  return false;
}

// Looks for other arcs into the subtree, and hangs its hosts below them. false: some host has none,
// and nothing is changed.
bool Reachability::move_subtree(std::uint32_t top) {
  collect_subtree(top);
  if (const std::uint32_t arc = arc_from_outside(top); arc != lp::kNone) {
    for (const std::uint32_t node : below_) mark_[node] = kOutside;
    tree_.move(arc);
    return true;
  }
  std::vector<std::uint32_t> order;  // attached hosts
  std::vector<std::uint32_t> new_arc(mark_.size(), lp::kNone);
  for (const std::uint32_t node : below_) {
    new_arc[node] = arc_from_outside(node);
    if (new_arc[node] != lp::kNone) order.push_back(node);
  }
  for (const std::uint32_t node : order) mark_[node] = kAttached;
  for (std::size_t i = 0; i < order.size(); ++i) {
    work_ += out_[order[i]].arcs.size();
    for (const std::uint32_t arc : out_[order[i]].arcs) {
      const std::uint32_t head = arcs_.head(arc);
      if (kept_[arc] == 0 || mark_[head] != kCutOff) continue;
      mark_[head] = kAttached;
      new_arc[head] = arc;
      order.push_back(head);
    }
  }
  const bool whole = order.size() == below_.size();
  for (const std::uint32_t node : below_) {
    mark_[node] = kOutside;
    if (whole && tree_.parent_arc(node) != new_arc[node]) tree_.move(new_arc[node]);
  }
  return whole;
}

void Reachability::collect_subtree(std::uint32_t top) {
  below_.assign(1, top);
  mark_[top] = kCutOff;
  for (std::size_t i = 0; i < below_.size(); ++i) {
    for (std::uint32_t child = tree_.first_child(below_[i]); child != lp::kNone;
         child = tree_.next_sibling(child)) {
      mark_[child] = kCutOff;
      below_.push_back(child);
    }
  }
  work_ += below_.size();
}

// The remaining arc into the node, from a host that is not cut off, with the latest turn;
// lp::kNone: there is none.
std::uint32_t Reachability::arc_from_outside(std::uint32_t node) {
  for (const std::uint32_t in : in_[node].arcs) {
    ++work_;
    if (kept_[in] != 0 && mark_[arcs_.tail(in)] == kOutside) return in;
  }
  return lp::kNone;
}

lp::RoutedTree Reachability::tree() const {
  lp::RoutedTree result;
  std::vector<std::uint32_t> order{source_};
  std::vector<std::uint32_t> arcs;
  for (std::size_t i = 0; i < order.size(); ++i) {
    arcs.clear();
    for (std::uint32_t child = tree_.first_child(order[i]); child != lp::kNone;
         child = tree_.next_sibling(child)) {
      arcs.push_back(tree_.parent_arc(child));
    }
    std::sort(arcs.begin(), arcs.end());
    for (const std::uint32_t arc : arcs) {
      arcs_.add_edge(arc, result);
      order.push_back(arcs_.head(arc));
    }
  }
  return result;
}

}  // namespace espalier::planner
