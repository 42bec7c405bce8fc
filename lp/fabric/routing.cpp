#include "lp/fabric/routing.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

namespace espalier::lp {

namespace {

constexpr std::size_t kMostRounds = 30;
constexpr std::size_t kRoundsInVain = 4;
// A longer way along the fabric's tree leads over its top, which others need more.
constexpr std::size_t kShortWay = 4;

}  // namespace

Routes::Routes(const PackingProblem& problem, const FabricTree& fabric, std::vector<HostTree> trees,
               double rate)
    : problem_(&problem),
      graph_(&problem.graph),
      fabric_(&fabric),
      rate_(rate),
      edges_(std::move(trees)),
      paths_(edges_.size()),
      load_(static_cast<std::size_t>(problem.occupation.rows()), 0.0),
      history_(load_.size(), 1.0),
      out_(graph_->node_count),
      cost_(graph_->node_count, 0.0),
      by_(graph_->node_count, kNone),
      visit_(graph_->node_count, 0) {
  for (std::uint32_t arc = 0; arc < graph_->arc_count(); ++arc) {
    if (graph_->relay(graph_->tail[arc]) && graph_->relay(graph_->head[arc])) {
      out_[graph_->tail[arc]].push_back(arc);
    }
  }
}

bool Routes::place(double most_excess, const Deadline& deadline) {
  double excess = 0;
  for (std::size_t tree = 0; tree < edges_.size(); ++tree) {
    for (const HostEdge edge : edges_[tree]) {
      if (deadline.passed() || excess > most_excess) return false;
      Path path = along_tree(edge);
      if (path.size() > kShortWay + 2 || !fits(path)) path = shortest(edge);
      excess += add(path, rate_);
      paths_[tree].push_back(std::move(path));
    }
  }
  return excess <= most_excess;
}

double Routes::excess() const {
  double excess = 0;
  for (const double load : load_) {
    if (load > 1 + kFabricRounding) excess += load - 1;
  }
  return excess;
}

double Routes::load() const {
  return std::ranges::max(load_);
}

void Routes::make_way(const Deadline& deadline) {
  double least = excess();
  std::size_t in_vain = 0;
  for (std::size_t round = 0; round < kMostRounds && least > 0 && in_vain < kRoundsInVain;
       ++round) {
    if (deadline.passed()) return;
    for (std::size_t tree = 0; tree < edges_.size(); ++tree) {
      for (std::size_t i = 0; i < edges_[tree].size(); ++i) {
        Path& path = paths_[tree][i];
        if (!is_overfull(path)) continue;
        add(path, -rate_);
        path = shortest(edges_[tree][i]);
        add(path, rate_);
      }
    }
    for (std::size_t row = 0; row < load_.size(); ++row) {
      if (load_[row] > 1 + kFabricRounding) history_[row] *= 1.5;
    }
    const double now = excess();
    in_vain = now < least ? 0 : in_vain + 1;
    least = std::min(least, now);
    if (now == 0) return;
  }
}

std::vector<RoutedTree> Routes::trees() const {
  std::vector<RoutedTree> trees;
  for (const std::vector<Path>& paths : paths_) {
    RoutedTree& tree = trees.emplace_back();
    for (const Path& path : paths) tree.add_edge(path);
  }
  return trees;
}

bool Routes::fits(const Path& path) const {
  return std::ranges::all_of(path, [&](std::uint32_t arc) {
    for (auto use = uses(arc); use; ++use) {
      if (load_of(use) + rate_ * use.value() > 1 + kFabricRounding) return false;
    }
    return true;
  });
}

bool Routes::is_overfull(const Path& path) const {
  return std::ranges::any_of(path, [&](std::uint32_t arc) {
    for (auto use = uses(arc); use; ++use) {
      if (load_of(use) > 1 + kFabricRounding) return true;
    }
    return false;
  });
}

double Routes::add(const Path& path, double rate) {
  double grown = 0;
  for (const std::uint32_t arc : path) {
    for (auto use = uses(arc); use; ++use) {
      double& load = load_[static_cast<std::size_t>(use.row())];
      grown -= std::max(0.0, load - 1);
      load += rate * use.value();
      grown += std::max(0.0, load - 1);
    }
  }
  return grown;
}

Routes::Path Routes::along_tree(HostEdge edge) const {
  std::uint32_t from = graph_->head[fabric_->arc_out[edge.parent]];
  std::uint32_t to = graph_->tail[fabric_->arc_in[edge.child]];
  Path path{fabric_->arc_out[edge.parent]};
  Path down{fabric_->arc_in[edge.child]};
  while (from != to) {
    if (fabric_->depth[from] >= fabric_->depth[to]) {
      path.push_back(fabric_->arc_up[from]);
      from = fabric_->above[from];
    } else {
      down.push_back(fabric_->arc_down[to]);
      to = fabric_->above[to];
    }
  }
  path.insert(path.end(), down.rbegin(), down.rend());
  return path;
}

// A link costs 1, a little more where it is in use, and much more where the edge does not fit.
double Routes::cost_of(std::uint32_t arc) const {
  double cost = 1;
  for (auto use = uses(arc); use; ++use) {
    const double load = load_of(use);
    cost += 0.02 * load;
    const double excess = load + rate_ * use.value() - 1;
    if (excess > kFabricRounding) {
      cost += history_[static_cast<std::size_t>(use.row())] * (10 + 100 * excess);
    }
  }
  return cost;
}

// Dijkstra's algorithm among the switches.
Routes::Path Routes::shortest(HostEdge edge) {
  const std::uint32_t from = graph_->head[fabric_->arc_out[edge.parent]];
  const std::uint32_t to = graph_->tail[fabric_->arc_in[edge.child]];
  ++search_;
  using Reached = std::pair<double, std::uint32_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
  const auto reach = [&](std::uint32_t node, double cost, std::uint32_t by) {
    if (visit_[node] == search_ && cost_[node] <= cost) return;
    visit_[node] = search_;
    cost_[node] = cost;
    by_[node] = by;
    open.emplace(cost, node);
  };
  reach(from, 0, kNone);
  while (!open.empty()) {
    const auto [cost, node] = open.top();
    open.pop();
    if (node == to) break;
    if (cost > cost_[node]) continue;
    for (const std::uint32_t arc : out_[node]) reach(graph_->head[arc], cost + cost_of(arc), arc);
  }
  Path path{fabric_->arc_in[edge.child]};
  for (std::uint32_t node = to; node != from; node = graph_->tail[by_[node]]) {
    path.push_back(by_[node]);
  }
  path.push_back(fabric_->arc_out[edge.parent]);
  std::ranges::reverse(path);
  return path;
}

}  // namespace espalier::lp
