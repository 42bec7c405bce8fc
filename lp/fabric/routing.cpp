#include "lp/fabric/routing.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace espalier::lp {

namespace {

constexpr std::size_t kMostRounds = 60;
// Where little is too much, other rounds may still help; where much is, it only moves about.
constexpr std::size_t kRoundsInVain = 3;
constexpr std::size_t kMoreRoundsInVain = 40;
constexpr double kLittle = 2;
// A longer way along the fabric's tree leads over its top, which others need more.
constexpr std::size_t kShortWay = 4;
constexpr std::uint32_t kMostDetour = 12;  // links

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
      link_cost_(graph_->arc_count(), 0.0),
      links_using_(load_.size()),
      out_(graph_->node_count),
      into_(graph_->node_count),
      links_to_(graph_->node_count, kNone),
      cost_(graph_->node_count, 0.0),
      by_(graph_->node_count, kNone),
      visit_(graph_->node_count, 0) {
  for (std::uint32_t arc = 0; arc < graph_->arc_count(); ++arc) {
    if (graph_->relay(graph_->tail[arc]) && graph_->relay(graph_->head[arc])) {
      out_[graph_->tail[arc]].push_back(arc);
      into_[graph_->head[arc]].push_back(arc);
      for (auto use = uses(arc); use; ++use) {
        links_using_[static_cast<std::size_t>(use.row())].push_back(arc);
      }
      link_cost_[arc] = cost_of(arc);
    }
  }
}

bool Routes::place(double most_excess, const Deadline& deadline) {
  double excess = 0;
  for (std::size_t tree = 0; tree < edges_.size(); ++tree) {
    for (const HostEdge edge : edges_[tree]) {
      if (deadline.passed() || excess > most_excess) return false;
      Path path = along_tree(edge);
      if (path.size() > kShortWay + 2 || !rows_overfull_by(path).empty()) path = shortest(edge);
      excess += add(path, rate_);
      paths_[tree].push_back(std::move(path));
    }
  }
  return excess <= most_excess;
}

double Routes::excess() const {
  return excess_of(load_);
}

double Routes::load() const {
  return std::ranges::max(load_);
}

void Routes::make_way(const Deadline& deadline) {
  double least = excess();
  std::size_t in_vain = 0;
  for (std::size_t round = 0; round < kMostRounds && least > 0; ++round) {
    if (in_vain >= (least < kLittle ? kMoreRoundsInVain : kRoundsInVain)) return;
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
      if (load_[row] <= 1 + kFabricRounding) continue;
      history_[row] *= 1.5;
      for (const std::uint32_t link : links_using_[row]) link_cost_[link] = cost_of(link);
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

std::vector<std::uint32_t> Routes::rows_overfull_by(const Path& path) const {
  std::vector<std::uint32_t> rows;
  for (const std::uint32_t arc : path) {
    for (auto use = uses(arc); use; ++use) {
      if (load_of(use) + rate_ * use.value() <= 1 + kFabricRounding) continue;
      rows.push_back(static_cast<std::uint32_t>(use.row()));
    }
  }
  return rows;
}

bool Routes::is_overfull(const Path& path) const {
  return std::ranges::any_of(path, [&](std::uint32_t arc) {
    for (auto use = uses(arc); use; ++use) {
      if (is_overfull(static_cast<std::uint32_t>(use.row()))) return true;
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
      for (const std::uint32_t link : links_using_[static_cast<std::size_t>(use.row())]) {
        link_cost_[link] = cost_of(link);
      }
    }
  }
  return grown;
}

Routes::Path Routes::along_tree(HostEdge edge) const {
  std::uint32_t from = switch_of(edge.parent);
  std::uint32_t to = switch_of(edge.child);
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

// Links from each switch to `to`, as far as to `from`; the others are no nearer. Valid until the
// next call.
void Routes::count_links(std::uint32_t from, std::uint32_t to) {
  for (const std::uint32_t node : counted_) links_to_[node] = kNone;
  counted_.assign(1, to);
  links_to_[to] = 0;
  for (std::size_t i = 0; links_to_[from] == kNone && i < counted_.size(); ++i) {
    for (const std::uint32_t arc : into_[counted_[i]]) {
      const std::uint32_t tail = graph_->tail[arc];
      if (links_to_[tail] != kNone) continue;
      links_to_[tail] = links_to_[counted_[i]] + 1;
      counted_.push_back(tail);
    }
  }
}

// Dijkstra's algorithm among the switches, directed to the end: a link costs at least 1. Ways of
// more than `most_more` links above the fewest are left out: around a full cut, everything would be
// searched.
Routes::Path Routes::between(std::uint32_t from, std::uint32_t to, std::uint32_t most_more) {
  count_links(from, to);
  const std::uint32_t farthest = links_to_[from];
  const auto left_from = [&](std::uint32_t node) { return std::min(links_to_[node], farthest); };
  ++search_;
  struct Reached {
    double cost;  // at least, of the whole path
    std::uint32_t links;
    std::uint32_t node;
    bool operator>(const Reached& other) const {
      // Of two alike, the one that has come farther.
      return std::tie(cost, other.links, node) > std::tie(other.cost, links, other.node);
    }
  };
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
  const auto reach = [&](std::uint32_t node, double cost, std::uint32_t links, std::uint32_t by) {
    if (visit_[node] == search_ && cost_[node] <= cost) return;
    visit_[node] = search_;
    cost_[node] = cost;
    by_[node] = by;
    open.push({cost + left_from(node), links, node});
  };
  reach(from, 0, 0, kNone);
  while (!open.empty()) {
    const auto [whole, links, node] = open.top();
    open.pop();
    if (node == to) break;
    const double cost = cost_[node];
    if (whole > cost + left_from(node)) continue;
    for (const std::uint32_t arc : out_[node]) {
      const std::uint32_t head = graph_->head[arc];
      if (links + 1 + left_from(head) > farthest + most_more) continue;
      reach(head, cost + link_cost_[arc], links + 1, arc);
    }
  }
  Path path;
  for (std::uint32_t node = to; node != from; node = graph_->tail[by_[node]]) {
    path.push_back(by_[node]);
  }
  std::ranges::reverse(path);
  return path;
}

Routes::Path Routes::with_ends(HostEdge edge, const Path& links) const {
  Path path{fabric_->arc_out[edge.parent]};
  path.insert(path.end(), links.begin(), links.end());
  path.push_back(fabric_->arc_in[edge.child]);
  return path;
}

Routes::Path Routes::shortest(HostEdge edge) {
  return with_ends(edge, between(switch_of(edge.parent), switch_of(edge.child), kMostDetour));
}

}  // namespace espalier::lp
