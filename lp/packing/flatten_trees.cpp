// TreeSet::flatten: fewer children per host and less depth, at the same rates.
#include <algorithm>
#include <vector>

#include "lp/graph/tree_routes.hpp"
#include "lp/packing/tree_set.hpp"

namespace espalier::lp {

namespace {

// The length of each arc between hosts: 1 or, where there are latencies, the time of a segment,
// because with latency alone hosts at the same site would have the same distance.
std::vector<double> lengths_of(const HostArcs& arcs, DepthIn depth) {
  std::vector<double> length(arcs.size(), 1.0);
  if (depth == DepthIn::kEdges || !arcs.has_latencies()) return length;
  for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) {
    length[arc] = arcs.latency_s(arc) + kHighLatencySegment * arcs.weight(arc);
  }
  return length;
}

std::size_t largest_out_degree(const std::vector<std::vector<std::uint32_t>>& children) {
  std::size_t largest = 0;
  for (const auto& of_node : children) largest = std::max(largest, of_node.size());
  return largest;
}

}  // namespace

// Depth of every node and height of its subtree, measured by `length`.
struct TreeSet::Levels {
  std::vector<double> depth;
  std::vector<double> height;
  double deepest = 0;

  Levels(const TreeSet& set, const Tree& tree)
      : depth(tree.children.size(), 0), height(tree.children.size(), 0), set_(set), tree_(tree) {
    lower(set.root_);
    for (auto node = walk_.rbegin(); node != walk_.rend(); ++node) height[*node] = height_of(*node);
  }

  // Hangs the arc's head there. Only what is below it gets another depth, and only what is above
  // its old and its new parent another height.
  void rehang(TreeSet& set, Tree& tree, std::uint32_t arc) {
    const std::uint32_t node = set.arcs_->head(arc);
    const std::uint32_t before = parent(node);
    set.rehang(tree, node, arc);
    depth[node] = depth[parent(node)] + length_to(node);
    lower(node);
    for (std::uint32_t above : {before, parent(node)}) {
      while (above != kNone) {
        const double now = height_of(above);
        if (now == height[above]) break;
        height[above] = now;
        above = parent(above);
      }
    }
  }

 private:
  [[nodiscard]] double length_to(std::uint32_t node) const {
    return set_.length_[tree_.parent_arc[node]];
  }
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const {
    const std::uint32_t arc = tree_.parent_arc[node];
    return arc == kNone ? kNone : set_.arcs_->tail(arc);
  }
  [[nodiscard]] double height_of(std::uint32_t node) const {
    double highest = 0;
    for (const std::uint32_t child : tree_.children[node]) {
      highest = std::max(highest, height[child] + length_to(child));
    }
    return highest;
  }
  // Sets the depth of all below `top`, from its own.
  void lower(std::uint32_t top) {
    walk_.assign(1, top);
    for (std::size_t i = 0; i < walk_.size(); ++i) {
      for (const std::uint32_t child : tree_.children[walk_[i]]) {
        depth[child] = depth[walk_[i]] + length_to(child);
        walk_.push_back(child);
      }
    }
    deepest = std::ranges::max(depth);
  }

  const TreeSet& set_;
  const Tree& tree_;
  std::vector<std::uint32_t> walk_;
};

bool TreeSet::flatten(double full, DepthIn depth, const Deadline& deadline) {
  constexpr std::uint64_t kEffort = 30'000'000;  // moves evaluated; some seconds
  const std::uint64_t before = evaluated_;
  length_ = lengths_of(*arcs_, depth);
  DeadlineWatch watch(deadline);
  for (Tree& tree : trees_) {
    if (evaluated_ - before > kEffort) break;
    if (!lower_out_degree(tree, full, watch) || !lower_depth(tree, full, watch)) return false;
  }
  return true;
}

// The arc that moves some child of `node` to the shallowest other parent that `accepts`; kNone:
// there is none, or the deadline passed.
template <class Accepts>
std::uint32_t TreeSet::best_new_parent(const Tree& tree, std::uint32_t node, Accepts accepts,
                                       const std::vector<double>& depth, double full,
                                       DeadlineWatch& watch) {
  std::uint32_t best = kNone;
  const auto depth_by = [&](std::uint32_t arc) { return depth[arcs_->tail(arc)] + length_[arc]; };
  for (const std::uint32_t child : tree.children[node]) {
    const std::uint32_t old_arc = tree.parent_arc[child];
    if (watch.passed(8 * arcs_->into(child).size())) return kNone;
    evaluated_ += arcs_->into(child).size();
    change_load(old_arc, -tree.rate);
    for (const std::uint32_t arc : arcs_->into(child)) {
      const std::uint32_t foster = arcs_->tail(arc);
      if (foster == node || !accepts(child, arc)) continue;
      if (best != kNone && depth_by(arc) >= depth_by(best)) continue;
      if (fits(arc, tree.rate, full) && !below(tree, foster, child)) best = arc;
    }
    change_load(old_arc, tree.rate);
  }
  return best;
}

// Moves children away from the nodes with the most children, as long as the tree does not get
// deeper. false: the deadline passed.
bool TreeSet::lower_out_degree(Tree& tree, double full, DeadlineWatch& watch) {
  Levels levels(*this, tree);
  for (std::size_t degree = largest_out_degree(tree.children); degree > 2; --degree) {
    for (std::uint32_t node = 0; node < arcs_->node_count(); ++node) {
      while (tree.children[node].size() >= degree) {
        const auto move = best_new_parent(
            tree, node,
            [&](std::uint32_t child, std::uint32_t arc) {
              const std::uint32_t foster = arcs_->tail(arc);
              return tree.children[foster].size() + 1 < degree &&
                     levels.depth[foster] + length_[arc] + levels.height[child] <= levels.deepest;
            },
            levels.depth, full, watch);
        if (watch.passed(tree.children.size())) return false;
        if (move == kNone) break;
        levels.rehang(*this, tree, move);
      }
    }
    if (largest_out_degree(tree.children) >= degree) break;
  }
  return true;
}

// Moves hosts closer to the root where no out-degree then exceeds the largest. false: the deadline
// passed.
bool TreeSet::lower_depth(Tree& tree, double full, DeadlineWatch& watch) {
  constexpr int kPasses = 4;
  constexpr double kNearer = 1 - 1e-9;
  const std::size_t degree = largest_out_degree(tree.children);
  for (int pass = 0; pass < kPasses; ++pass) {
    bool changed = false;
    Levels levels(*this, tree);
    for (std::uint32_t node = 0; node < arcs_->node_count(); ++node) {
      if (tree.parent_arc[node] == kNone) continue;
      const std::uint32_t old_arc = tree.parent_arc[node];
      if (watch.passed(4 * arcs_->into(node).size())) return false;
      std::uint32_t best = kNone;
      double best_depth = levels.depth[node];
      evaluated_ += arcs_->into(node).size();
      change_load(old_arc, -tree.rate);
      for (const std::uint32_t arc : arcs_->into(node)) {
        const std::uint32_t foster = arcs_->tail(arc);
        const double depth = levels.depth[foster] + length_[arc];
        if (depth >= best_depth * kNearer || tree.children[foster].size() >= degree) continue;
        if (!fits(arc, tree.rate, full) || below(tree, foster, node)) continue;
        best = arc;
        best_depth = depth;
      }
      change_load(old_arc, tree.rate);
      if (best == kNone) continue;
      if (watch.passed(4 * tree.children.size())) return false;
      levels.rehang(*this, tree, best);
      changed = true;
    }
    if (!changed) break;
  }
  return true;
}

}  // namespace espalier::lp
