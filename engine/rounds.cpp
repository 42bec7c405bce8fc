#include "engine/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/errors.hpp"

namespace espalier::engine {

void require_rounds(const planner::Plan& plan, const std::string& file) {
  for (const planner::PlanTrees& kind : planner::trees_by_kind(plan)) {
    if (!planner::is_colored(*kind.trees)) {
      throw InputError(file, fmt::format("/{}/0", kind.key),
                       "rounds need colors, which this plan's trees do not have");
    }
  }
  planner::check_colors(plan, file);
  for (const planner::PlanTrees& kind : planner::trees_by_kind(plan)) {
    for (std::size_t i = 0; i < kind.trees->size(); ++i) {
      const planner::PlanTree& tree = (*kind.trees)[i];
      const double rate = kind.trees->front().rate.value;
      if (!tree.exchange.empty()) {
        throw InputError(file, fmt::format("/{}/{}/exchange", kind.key, i),
                         "rounds do not support exchange edges");
      }
      if (!(std::abs(tree.rate.value - rate) <= 1e-9 * rate)) {
        throw InputError(file, fmt::format("/{}/{}/rate_Bps", kind.key, i),
                         fmt::format("rounds need trees of equal rates; {} differs from {}",
                                     tree.rate.value, rate));
      }
    }
  }
}

std::vector<std::uint64_t> first_rounds(const planner::PlanTree& tree, std::uint32_t root,
                                        Kind kind) {
  const std::size_t nodes = tree.edges.size() + 1;
  std::vector<std::vector<std::size_t>> edges_from(nodes);
  for (std::size_t i = 0; i < tree.edges.size(); ++i) {
    edges_from[tree.edges[i].parent].push_back(i);
  }
  std::vector<std::uint64_t> first(tree.edges.size());
  std::vector<std::uint64_t> has_it(nodes, 0);  // the first round in which it may send
  std::vector<std::uint32_t> reached{root};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const std::uint64_t from = has_it[reached[i]];
    for (const std::size_t edge : edges_from[reached[i]]) {
      first[edge] = from + (from % 2 == tree.colors[edge] ? 0 : 1);
      has_it[tree.edges[edge].child] = first[edge] + 1;
      reached.push_back(tree.edges[edge].child);
    }
  }
  if (kind == Kind::kCombine && !first.empty()) {
    const std::uint64_t last = (std::ranges::max(first) + 1) / 2 * 2;
    for (std::uint64_t& round : first) round = last - round;
  }
  return first;
}

std::vector<TreeRounds> rounds_of(std::span<const planner::PlanTree> trees, std::uint32_t root,
                                  std::span<const int> rank_of_node, int rank, Kind kind) {
  std::vector<TreeRounds> rounds;
  for (const planner::PlanTree& tree : trees) {
    const std::vector<std::uint64_t> first = first_rounds(tree, root, kind);
    TreeRounds mine;
    auto& of_parent = kind == Kind::kSpread ? mine.sends : mine.receives;
    auto& of_child = kind == Kind::kSpread ? mine.receives : mine.sends;
    for (std::size_t i = 0; i < tree.edges.size(); ++i) {
      if (rank_of_node[tree.edges[i].parent] == rank) of_parent.push_back(first[i]);
      if (rank_of_node[tree.edges[i].child] == rank) of_child.push_back(first[i]);
    }
    rounds.push_back(std::move(mine));
  }
  return rounds;
}

}  // namespace espalier::engine
