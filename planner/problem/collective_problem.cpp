#include "planner/problem/collective_problem.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace espalier::planner {

namespace {

void add(lp::RoutedTree tree, BytesPerSecond rate, std::vector<WeightedTree>& trees) {
  if (tree.edge_count() == 0) return;  // the operation does not have this half
  const auto same = std::ranges::find(trees, tree, &WeightedTree::tree);
  if (same != trees.end()) {
    same->rate.value += rate.value;
  } else {
    trees.push_back({std::move(tree), rate});
  }
}

// The tree with every edge reversed.
lp::RoutedTree reversed_edges(const lp::RoutedTree& tree) {
  lp::RoutedTree reversed;
  std::vector<std::uint32_t> path;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto forward = tree.path(edge);
    path.assign(forward.rbegin(), forward.rend());
    reversed.add_edge(path);
  }
  return reversed;
}

}  // namespace

CollectiveProblem::CollectiveProblem(const Collective& collective) : collective_(collective) {
  switch (collective.operation()) {
    case Operation::kBroadcast:
      break;
    case Operation::kReduce:
      reversed_ = digraph_of(collective.platform());
      std::swap(reversed_->tail, reversed_->head);
      break;
    case Operation::kAllreduce:
      doubled_.emplace(packing_problem(*collective.broadcast()));
  }
}

lp::PackingProblem CollectiveProblem::problem() const {
  if (doubled_) return doubled_->problem();
  return {reversed_ ? *reversed_ : collective_.broadcast()->digraph(),
          static_cast<std::uint32_t>(collective_.source()),
          collective_.occupation().seconds_per_byte};
}

Outcome CollectiveProblem::outcome_of(const lp::Packing& packing) const {
  return in_links(planner::outcome_of(packing));
}

Outcome CollectiveProblem::in_links(Outcome outcome) const {
  if (!reversed_ && !doubled_) return outcome;
  std::vector<WeightedTree> whole;
  std::swap(whole, outcome.trees);
  for (const WeightedTree& tree : whole) {
    Halves halves = split(tree.tree);
    add(std::move(halves.up), tree.rate, outcome.reduce_trees);
    add(std::move(halves.down), tree.rate, outcome.trees);
  }
  return outcome;
}

CollectiveProblem::Halves CollectiveProblem::split(const lp::RoutedTree& tree) const {
  if (doubled_) return doubled_->split(tree);
  if (reversed_) return {reversed_edges(tree), {}};
  return {{}, tree};
}

lp::RoutedTree CollectiveProblem::join(const Halves& halves) const {
  if (doubled_) return doubled_->join(halves);
  return reversed_ ? reversed_edges(halves.up) : halves.down;
}

}  // namespace espalier::planner
