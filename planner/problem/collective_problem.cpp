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

CollectiveProblem::CollectiveProblem(const Collective& collective) : collective_(collective) {
  if (!reduces(collective.operation())) return;
  const auto root = static_cast<std::uint32_t>(collective.source());
  std::vector<lp::Part> parts;
  if (broadcasts(collective.operation())) parts.push_back({root});
  parts.push_back({root, true});
  parts_.emplace(digraph_of(collective.platform()), collective.occupation().seconds_per_byte,
                 std::move(parts));
}

lp::PackingProblem CollectiveProblem::problem() const {
  return parts_ ? parts_->problem() : packing_problem(*collective_.broadcast());
}

Outcome CollectiveProblem::outcome_of(const lp::Packing& packing) const {
  return in_links(planner::outcome_of(packing));
}

Outcome CollectiveProblem::in_links(Outcome outcome) const {
  if (!parts_) return outcome;
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

}  // namespace espalier::planner
