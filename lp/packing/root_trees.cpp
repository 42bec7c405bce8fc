#include "lp/packing/root_trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace espalier::lp {

namespace {

// Of the arcs to all hosts: dearer than all others together. It is only compared, and so loses
// nothing.
constexpr double kFar = 1e300;

Digraph first_part(const PackingProblem& problem) {
  const Digraph& whole = problem.graph;
  Digraph part;
  for (std::uint32_t arc = 0; arc < problem.part_arcs; ++arc) {
    part.tail.push_back(whole.tail[arc]);
    part.head.push_back(whole.head[arc]);
    part.node_count = std::max({part.node_count, whole.tail[arc] + 1, whole.head[arc] + 1});
  }
  if (!whole.is_relay.empty()) {
    part.is_relay.assign(whole.is_relay.begin(), whole.is_relay.begin() + part.node_count);
  }
  return part;
}

}  // namespace

AnyRootTree::AnyRootTree(const PackingProblem& problem, const Deadline& deadline)
    : arcs_(problem.part_arcs), roots_(problem.root_arcs) {
  for (std::uint32_t part = 0; part < halves_.size(); ++part) take_part(problem, part, deadline);
}

void AnyRootTree::take_part(const PackingProblem& problem, std::uint32_t part,
                            const Deadline& deadline) {
  const Digraph& whole = problem.graph;
  Half& half = halves_[part];
  std::vector<std::uint32_t> number(whole.node_count, kNone);
  const auto own = [&](std::uint32_t node) {
    if (number[node] == kNone) {
      number[node] = half.graph.node_count++;
      if (!whole.is_relay.empty()) half.graph.is_relay.push_back(whole.is_relay[node]);
    }
    return number[node];
  };
  const std::uint32_t root = own(problem.root);
  for (std::uint32_t arc = part * arcs_; arc < (part + 1) * arcs_; ++arc) {
    half.graph.tail.push_back(own(whole.tail[arc]));
    half.graph.head.push_back(own(whole.head[arc]));
  }
  half.cost.resize(arcs_, kFar);
  half.cheapest.emplace(half.graph, root, deadline);
}

double AnyRootTree::cost_from(const Half& half, std::uint32_t root) const {
  return half.from_each[half.graph.head[arcs_ - roots_ + root]];
}

std::optional<PricedTree> AnyRootTree::solve(std::span<const double> cost) {
  for (std::size_t part = 0; part < halves_.size(); ++part) {
    Half& half = halves_[part];
    std::ranges::copy(cost.subspan(part * arcs_, arcs_ - roots_), half.cost.begin());
    if (!half.cheapest->solve_from_each(half.cost, half.from_each)) return std::nullopt;
  }
  const auto cost_of = [&](std::uint32_t root) {
    return cost_from(halves_[0], root) + cost_from(halves_[1], root);
  };
  std::uint32_t best = 0;
  for (std::uint32_t root = 1; root < roots_; ++root) {
    if (cost_of(root) < cost_of(best)) best = root;
  }
  PricedTree whole{{}, cost_of(best)};
  if (!(whole.cost < std::numeric_limits<double>::infinity())) return std::nullopt;
  for (std::uint32_t part = 0; part < halves_.size(); ++part) {
    const std::uint32_t root_arc = arcs_ - roots_ + best;
    whole.tree.append(halves_[part].cheapest->tree_from(root_arc),
                      [&](std::uint32_t arc) { return part * arcs_ + arc; });
  }
  return whole;
}

TreesFromEach::TreesFromEach(Digraph graph, const Deadline& deadline)
    : arcs_(static_cast<std::uint32_t>(graph.arc_count())), graph_(std::move(graph)) {
  const std::uint32_t root = graph_.node_count++;
  if (!graph_.is_relay.empty()) graph_.is_relay.push_back(0);
  arc_to_.assign(root, kNone);
  for (std::uint32_t node = 0; node < root; ++node) {
    if (graph_.relay(node)) continue;
    arc_to_[node] = static_cast<std::uint32_t>(graph_.tail.size());
    graph_.tail.push_back(root);
    graph_.head.push_back(node);
  }
  cost_.resize(graph_.tail.size(), kFar);
  cheapest_.emplace(graph_, root, deadline);
}

bool TreesFromEach::solve(std::span<const double> cost) {
  std::ranges::copy(cost.first(arcs_), cost_.begin());
  return cheapest_->solve_from_each(cost_, from_each_);
}

RoutedTree TreesFromEach::tree_from(std::uint32_t host) {
  RoutedTree tree;
  const RoutedTree from_root = cheapest_->tree_from(arc_to_[host]);
  for (std::size_t edge = 0; edge < from_root.edge_count(); ++edge) {
    if (from_root.path(edge).front() < arcs_) tree.add_edge(from_root.path(edge));
  }
  return tree;
}

AllRootsTree::AllRootsTree(const PackingProblem& problem, const Deadline& deadline)
    : roots_(problem.part_roots.begin(), problem.part_roots.end()),
      from_each_(first_part(problem), deadline),
      cost_(from_each_.arc_count()) {}

std::optional<PricedTree> AllRootsTree::solve(std::span<const double> cost) {
  for (std::size_t arc = 0; arc < cost_.size(); ++arc)
    cost_[arc] = cost[arc] / roots_.front().share;
  if (!from_each_.solve(cost_)) return std::nullopt;
  const auto arcs = static_cast<std::uint32_t>(arc_count());
  PricedTree whole{{}, 0};
  for (std::uint32_t part = 0; part < roots_.size(); ++part) {
    const auto [root, share] = roots_[part];
    if (std::isinf(from_each_.cost_from(root))) return std::nullopt;
    whole.cost += share * from_each_.cost_from(root);
    whole.tree.append(from_each_.tree_from(root),
                      [&](std::uint32_t arc) { return part * arcs + arc; });
  }
  return whole;
}

}  // namespace espalier::lp
