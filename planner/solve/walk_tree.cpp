#include "planner/solve/walk_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace espalier::planner {

namespace {

class Walk {
 public:
  explicit Walk(const Instance& instance)
      : graph_(instance.digraph()),
        source_(static_cast<std::uint32_t>(instance.source())),
        out_(graph_.node_count),
        reverse_(graph_.arc_count(), lp::kNone),
        thickness_(graph_.arc_count()) {
    const platforms::Platform& platform = instance.platform();
    const std::vector<double> seconds = instance.arc_seconds_per_byte();
    for (std::uint32_t arc = 0; arc < graph_.arc_count(); ++arc) {
      const auto back = platform.find_arc(platform.arcs()[arc].to, platform.arcs()[arc].from);
      if (back) reverse_[arc] = static_cast<std::uint32_t>(*back);
      double slower = seconds[arc];
      if (graph_.relay(graph_.tail[arc]) || graph_.relay(graph_.head[arc])) {
        if (!back) continue;
        slower = std::max(slower, seconds[reverse_[arc]]);
      }
      thickness_[arc] = 1 / slower;
      out_[graph_.tail[arc]].push_back(arc);
    }
    for (std::vector<std::uint32_t>& arcs : out_) {
      std::ranges::stable_sort(
          arcs, [&](std::uint32_t a, std::uint32_t b) { return thickness_[a] > thickness_[b]; });
    }
  }

  std::optional<lp::RoutedTree> tree() {
    const double thinnest = thinnest_needed();
    if (thinnest <= 0) return std::nullopt;
    walk(thinnest);
    return std::move(tree_);
  }

 private:
  [[nodiscard]] double thinnest_needed() const;
  void walk(double thinnest);
  void enter(std::uint32_t arc);
  void leave(std::uint32_t arc);

  const lp::Digraph& graph_;
  std::uint32_t source_;
  std::vector<std::vector<std::uint32_t>> out_;  // per node, the thickest first
  std::vector<std::uint32_t> reverse_;           // per arc
  std::vector<double> thickness_;    // per arc, bytes per second; with relays in both directions
  std::vector<std::uint32_t> path_;  // from the last host on the walk to where it is now
  lp::RoutedTree tree_;
};

// The thinnest link on the way to any host along the thickest links (Prim's algorithm for a maximum
// spanning tree). 0: a host is not reached.
double Walk::thinnest_needed() const {
  std::priority_queue<std::pair<double, std::uint32_t>> open;  // by thickness
  std::vector<char> reached(graph_.node_count, 0);
  std::uint32_t hosts_left = graph_.host_count();
  double thinnest = std::numeric_limits<double>::infinity();
  open.emplace(thinnest, source_);
  while (hosts_left > 0 && !open.empty()) {
    const auto [thickness, node] = open.top();
    open.pop();
    if (std::exchange(reached[node], 1) != 0) continue;
    thinnest = std::min(thinnest, thickness);
    if (!graph_.relay(node)) --hosts_left;
    for (const std::uint32_t arc : out_[node]) {
      if (reached[graph_.head[arc]] == 0) open.emplace(thickness_[arc], graph_.head[arc]);
    }
  }
  return hosts_left == 0 ? thinnest : 0;
}

void Walk::walk(double thinnest) {
  std::vector<char> seen(graph_.node_count, 0);
  std::vector<std::size_t> next(graph_.node_count, 0);
  std::vector<std::uint32_t> way;  // arcs from the source to where the walk is
  std::uint32_t hosts_left = graph_.host_count() - 1;
  std::uint32_t node = source_;
  seen[source_] = 1;
  while (hosts_left > 0) {
    const std::vector<std::uint32_t>& arcs = out_[node];
    std::size_t& at = next[node];
    while (at < arcs.size() && seen[graph_.head[arcs[at]]] != 0) ++at;
    if (at < arcs.size() && thickness_[arcs[at]] >= thinnest) {
      way.push_back(arcs[at]);
      enter(way.back());
      node = graph_.head[way.back()];
      seen[node] = 1;
      if (!graph_.relay(node)) --hosts_left;
    } else {
      leave(way.back());
      node = graph_.tail[way.back()];
      way.pop_back();
    }
  }
}

void Walk::enter(std::uint32_t arc) {
  path_.push_back(arc);
  if (graph_.relay(graph_.head[arc])) return;
  tree_.add_edge(path_);
  path_.clear();
}

void Walk::leave(std::uint32_t arc) {
  if (!graph_.relay(graph_.tail[arc])) {
    path_.clear();  // back at a host, which has the data
  } else if (!path_.empty() && path_.back() == arc) {
    path_.pop_back();  // a relay without hosts behind it
  } else {
    path_.push_back(reverse_[arc]);
  }
}

}  // namespace

std::optional<lp::RoutedTree> walk_tree(const Instance& instance) {
  return Walk(instance).tree();
}

}  // namespace espalier::planner
