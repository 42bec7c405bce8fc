#include "lp/packing/any_root_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace espalier::lp {

namespace {

// Of root arcs. It is only compared, and so loses nothing.
constexpr double kFar = 1e300;

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
    whole.tree.append(halves_[part].cheapest->tree_from(root_arc), part * arcs_);
  }
  return whole;
}

}  // namespace espalier::lp
