#include "planner/problem/collective_problem.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace espalier::planner {

namespace {

void add(lp::RoutedTree tree, BytesPerSecond rate, std::vector<WeightedTree>& trees) {
  // An operation without this half has no edges there.
  if (tree.edge_count() > 0) add_tree(std::move(tree), rate.value, trees);
}

}  // namespace

CollectiveProblem::CollectiveProblem(const Collective& collective, ReducesAlong along)
    : collective_(collective) {
  if (!reduces(collective.operation())) return;
  const bool spreads = broadcasts(collective.operation());
  if (spreads && along == ReducesAlong::kSameTrees) {
    both_ = lp::BothWays::of(packing_problem(*collective.broadcast()));
    if (both_) counterparts_ = both_->counterparts();
    if (!counterparts_.empty()) return;
    both_.reset();
  }
  const auto root = static_cast<std::uint32_t>(collective.source());
  std::vector<lp::Part> parts;
  if (spreads) parts.push_back({root});
  parts.push_back({root, true});
  parts_.emplace(digraph_of(collective.platform()), collective.occupation().seconds_per_byte,
                 std::move(parts));
}

lp::PackingProblem CollectiveProblem::problem() const {
  if (both_) return both_->problem();
  return parts_ ? parts_->problem() : packing_problem(*collective_.broadcast());
}

Outcome CollectiveProblem::outcome_of(const lp::Packing& packing) const {
  return in_links(planner::outcome_of(packing));
}

Outcome CollectiveProblem::in_links(Outcome outcome) const {
  if (!parts_ && !both_) return outcome;
  std::vector<WeightedTree> whole;
  std::swap(whole, outcome.trees);
  for (const WeightedTree& tree : whole) {
    Halves halves = split(tree.tree);
    add(std::move(halves.up), tree.rate, outcome.reduce_trees);
    add(std::move(halves.down), tree.rate, outcome.trees);
  }
  if (both_) {
    outcome.prices =
        priced_rows(prices_for_halves(prices_by_row(outcome.prices, counterparts_.size())));
  }
  return outcome;
}

CollectiveProblem::Halves CollectiveProblem::split(const lp::RoutedTree& tree) const {
  if (both_) return {both_->back(tree), tree};
  if (!parts_) return {{}, tree};
  std::vector<lp::RoutedTree> halves = parts_->split(tree);
  Halves split{std::move(halves.back()), {}};
  if (halves.size() > 1) split.down = std::move(halves.front());
  return split;
}

lp::RoutedTree CollectiveProblem::join(const Halves& halves) const {
  if (!parts_) return halves.down;
  if (parts_->parts().size() == 1) return parts_->join({&halves.up, 1});
  return parts_->join(std::array{halves.down, halves.up});
}

std::vector<lp::RoutedTree> CollectiveProblem::with_each(StartingTrees halves) const {
  if (both_) {
    for (const lp::RoutedTree& up : halves.up) halves.down.push_back(both_->back(up));
    return std::move(halves.down);
  }
  if (collective_.reduction() == nullptr) halves.up = {lp::RoutedTree{}};
  if (collective_.broadcast() == nullptr) halves.down = {lp::RoutedTree{}};
  std::vector<lp::RoutedTree> whole;
  if (halves.up.empty() || halves.down.empty()) return whole;
  for (std::size_t i = 0; i < std::max(halves.up.size(), halves.down.size()); ++i) {
    whole.push_back(join({halves.up[i % halves.up.size()], halves.down[i % halves.down.size()]}));
  }
  return whole;
}

lp::Packing CollectiveProblem::converted(lp::Packing packing, const CollectiveProblem& from) const {
  if (!from.both_) return packing;
  for (lp::PackedTree& packed : packing.trees) packed.tree = join(from.split(packed.tree));
  for (lp::RoutedTree& tree : packing.pool) tree = join(from.split(tree));
  packing.prices = from.prices_for_halves(packing.prices);
  return packing;
}

// The means of a resource's price and its counterpart's: then a tree's half costs half as much in
// each direction, and the prices prove the same for any halves.
std::vector<double> CollectiveProblem::prices_for_halves(const std::vector<double>& prices) const {
  std::vector<double> means(prices.size(), 0.0);
  for (std::size_t row = 0; row < prices.size(); ++row) {
    means[row] += prices[row] / 2;
    means[counterparts_[row]] += prices[row] / 2;
  }
  return means;
}

}  // namespace espalier::planner
