#include "lp/single/shallow_tree.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

namespace espalier::lp {

namespace {

constexpr double kCutOff = std::numeric_limits<double>::infinity();

}  // namespace

DepthLimit::DepthLimit(const PackingProblem& problem, const HostArcs& arcs,
                       const ShallowOptions& options)
    : length(arcs.size(), 1.0),
      root(arcs.size(), kNone),
      most(options.max_depth + edges_to_root(problem)) {
  constexpr double kRounding = 1e-12;  // of sums in a different order
  if (options.max_latency) {
    most = options.max_latency->value * (1 + kRounding);
    for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) length[arc] = arcs.latency_s(arc);
  }
  if (problem.root_arcs == 0) return;
  std::vector<std::uint32_t> number_of(arcs.node_count(), kNone);
  for (std::uint32_t arc = 0; arc < problem.graph.arc_count(); ++arc) {
    const std::uint32_t number = root_number(arc, problem.part_arcs, problem.root_arcs);
    if (number != kNone) number_of[problem.graph.head[arc]] = number;
  }
  for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) {
    if (arcs.tail(arc) == problem.root) root[arc] = number_of[arcs.head(arc)];
  }
}

double ShallowTree::length(std::uint32_t arc) const {
  const bool is_cut = limit_.root[arc] != kNone && limit_.root[arc] != only_root_arc_;
  return is_cut ? kCutOff : limit_.length[arc];
}

std::size_t ShallowTree::host_count() const {
  std::size_t hosts = 1;
  for (std::uint32_t node = 0; node < arcs_.node_count(); ++node) {
    if (node != root_ && !arcs_.into(node).empty()) ++hosts;
  }
  return hosts;
}

// Dijkstra; of equally long paths, that of the host found first.
void ShallowTree::find_nearest() {
  distance_.assign(arcs_.node_count(), kCutOff);
  nearest_arc_.assign(arcs_.node_count(), kNone);
  struct Found {
    double distance;
    std::size_t turn;
    std::uint32_t node;
    bool operator>(const Found& other) const {
      return std::tie(distance, turn) > std::tie(other.distance, other.turn);
    }
  };
  std::priority_queue<Found, std::vector<Found>, std::greater<>> found;
  std::vector<char> settled(arcs_.node_count(), 0);
  std::size_t turn = 0;
  distance_[root_] = 0;
  found.push({0, turn, root_});
  while (!found.empty()) {
    const std::uint32_t node = found.top().node;
    found.pop();
    if (std::exchange(settled[node], 1) != 0) continue;
    order_.push_back(node);
    for (const std::uint32_t arc : arcs_.out_of(node)) {
      const std::uint32_t next = arcs_.head(arc);
      const double distance = distance_[node] + length(arc);
      if (distance >= distance_[next]) continue;
      distance_[next] = distance;
      nearest_arc_[next] = arc;
      found.push({distance, ++turn, next});
    }
  }
}

void ShallowTree::start_from(const RoutedTree& tree) {
  parent_arc_.assign(arcs_.node_count(), kNone);
  for (const std::uint32_t arc : arcs_.arcs_of(tree)) {
    if (arc != kNone) parent_arc_[arcs_.head(arc)] = arc;
  }
}

// Computes depths and heights from the parent arcs. Hosts below a cut are cut off.
void ShallowTree::measure() {
  children_.assign(arcs_.node_count(), {});
  depth_.assign(arcs_.node_count(), kCutOff);
  height_.assign(arcs_.node_count(), 0);
  for (const std::uint32_t node : order_) {
    if (parent_arc_[node] != kNone) children_[arcs_.tail(parent_arc_[node])].push_back(node);
  }
  walk_.assign(1, root_);
  depth_[root_] = 0;
  for (std::size_t i = 0; i < walk_.size(); ++i) {
    for (const std::uint32_t child : children_[walk_[i]]) {
      depth_[child] = depth_[walk_[i]] + length(parent_arc_[child]);
      walk_.push_back(child);
    }
  }
  for (auto node = walk_.rbegin(); node != walk_.rend(); ++node) {
    for (const std::uint32_t child : children_[*node]) {
      height_[*node] = std::max(height_[*node], height_[child] + length(parent_arc_[child]));
    }
  }
}

bool ShallowTree::below(std::uint32_t node, std::uint32_t top) const {
  while (node != top && node != root_) node = arcs_.tail(parent_arc_[node]);
  return node == top;
}

// Moves a host, and those on a shortest path to it, as close to the root as possible.
void ShallowTree::pull_up(std::uint32_t node) {
  std::vector<std::uint32_t> path;
  for (; node != root_; node = arcs_.tail(nearest_arc_[node])) path.push_back(node);
  for (const std::uint32_t host : path) parent_arc_[host] = nearest_arc_[host];
}

// Whether `arc` is cheaper or, at equal cost (resources that are not full cost nothing), comes from
// a parent with fewer children.
bool ShallowTree::is_better(std::uint32_t arc, std::uint32_t other,
                            const std::vector<double>& cost) const {
  constexpr double kRounding = 1e-9;
  const auto children = [&](std::uint32_t of) { return children_[arcs_.tail(of)].size(); };
  if (std::abs(cost[arc] - cost[other]) > kRounding * (cost[arc] + cost[other])) {
    return cost[arc] < cost[other];
  }
  return children(arc) < children(other);
}

// Removes hosts that are too deep from their parents, and gives each the cheapest possible parent.
void ShallowTree::reattach_deep_hosts(const std::vector<double>& cost) {
  measure();
  std::vector<std::uint32_t> deep;
  for (const std::uint32_t node : walk_) {
    if (depth_[node] > limit_.most) deep.push_back(node);
  }
  for (const std::uint32_t node : deep) parent_arc_[node] = kNone;
  bool in_time = true;
  for (const std::uint32_t node : deep) {
    in_time = in_time && !watch_.passed(8 * order_.size() + arcs_.into(node).size());
    if (!in_time) {
      pull_up(node);
      continue;
    }
    measure();
    if (depth_[node] <= limit_.most) continue;
    const std::uint32_t best = best_parent(node, cost);
    if (best != kNone) {
      parent_arc_[node] = best;
    } else {
      pull_up(node);
    }
  }
  measure();
}

// The best arc into the node from a host that is close enough to the root; kNone: there is none.
std::uint32_t ShallowTree::best_parent(std::uint32_t node, const std::vector<double>& cost) const {
  std::uint32_t best = kNone;
  for (const std::uint32_t arc : arcs_.into(node)) {
    if (depth_[arcs_.tail(arc)] + length(arc) > limit_.most) continue;
    if (best == kNone || is_better(arc, best, cost)) best = arc;
  }
  return best;
}

bool ShallowTree::take_cheaper_parents(const std::vector<double>& cost) {
  constexpr double kCheaper = 1e-9;
  bool changed = false;
  for (const std::uint32_t node : order_) {
    if (node == root_) continue;
    if (watch_.passed(arcs_.into(node).size())) return false;
    std::uint32_t best = parent_arc_[node];
    for (const std::uint32_t arc : arcs_.into(node)) {
      if (cost[arc] >= cost[best] * (1 - kCheaper)) continue;
      const std::uint32_t above = arcs_.tail(arc);
      if (depth_[above] + length(arc) + height_[node] > limit_.most) continue;
      if (below(above, node)) continue;
      best = arc;
    }
    if (best == parent_arc_[node]) continue;
    parent_arc_[node] = best;
    measure();
    if (watch_.passed(8 * order_.size())) return false;
    changed = true;
  }
  return changed;
}

RoutedTree ShallowTree::nearest() const {
  RoutedTree tree;
  for (const std::uint32_t node : order_) {
    if (node != root_) arcs_.add_edge(nearest_arc_[node], tree);
  }
  return tree;
}

RoutedTree ShallowTree::shallow(const RoutedTree& tree, const std::vector<double>& cost) {
  constexpr int kSweeps = 4;
  start_from(tree);
  reattach_deep_hosts(cost);
  for (int sweep = 0; sweep < kSweeps && take_cheaper_parents(cost); ++sweep) {
  }
  RoutedTree routed;
  for (const std::uint32_t node : walk_) {
    if (node != root_) arcs_.add_edge(parent_arc_[node], routed);
  }
  return routed;
}

}  // namespace espalier::lp
