#include "tests/engine/adversary_trees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/errors.hpp"

namespace espalier::testing::adversary {

planner::PlanTree random_tree(const std::vector<int>& members, std::size_t most_children,
                              Random& random) {
  std::vector<std::uint32_t> order(members.begin(), members.end());
  std::shuffle(order.begin() + 1, order.end(), random);
  const std::uint64_t kind = below(3, random);
  std::vector<std::size_t> children(order.size(), 0);
  planner::PlanTree tree;
  // Mostly one of two: then the assignment of segments to trees soon repeats, and is made fast.
  const bool is_odd = below(8, random) == 0;
  tree.rate = {1.0 + static_cast<double>(below(is_odd ? 1000 : 2, random))};
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t parent = kind == 0 ? i - 1 : kind == 1 ? 0 : below(i, random);
    while (children[parent] == most_children) ++parent;
    ++children[parent];
    tree.edges.push_back({order[parent], order[i]});
  }
  std::shuffle(tree.edges.begin(), tree.edges.end(), random);
  return tree;
}

planner::Plan plan_from(const std::vector<planner::PlanTree>& trees, std::size_t ranks, int root) {
  planner::Plan plan;
  for (std::size_t rank = 0; rank < ranks; ++rank) plan.nodes.push_back(fmt::format("n{}", rank));
  plan.source = plan.nodes[static_cast<std::size_t>(root)];
  plan.broadcast_trees = trees;
  return plan;
}

namespace {

bool has_valid_colors(const std::vector<planner::PlanTree>& trees, std::size_t ranks, int root) {
  try {
    planner::check_colors(plan_from(trees, ranks, root));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

std::vector<planner::PlanTree> colored_trees(const std::vector<int>& members, Random& random) {
  const std::size_t count = 1 + below(2, random);
  for (int attempt = 0; attempt < 40; ++attempt) {
    std::vector<planner::PlanTree> trees;
    while (trees.size() < count) {
      const std::size_t most_children = count == 1 || chance(50, random) ? 2 : 1;
      planner::PlanTree& tree = trees.emplace_back(random_tree(members, most_children, random));
      tree.rate = {1};
      for (std::size_t i = 0; i < tree.edges.size(); ++i) {
        tree.colors.push_back(static_cast<std::uint8_t>(below(2, random)));
      }
    }
    if (has_valid_colors(trees, members.size(), members[0])) return trees;
  }
  planner::PlanTree chain;  // which always has some
  chain.rate = {1};
  for (std::size_t i = 1; i < members.size(); ++i) {
    chain.edges.push_back(
        {static_cast<std::uint32_t>(members[i - 1]), static_cast<std::uint32_t>(members[i])});
    chain.colors.push_back(static_cast<std::uint8_t>(i % 2));
  }
  return {chain};
}

std::vector<int> some_of(const std::vector<int>& members, Random& random) {
  std::vector<int> some{members.front()};
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (chance(70, random)) some.push_back(members[i]);
  }
  return some.size() > 1 ? some : members;
}

planner::PlanTree random_path(int from, int to, int ranks, Random& random) {
  std::vector<std::uint32_t> between;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != from && rank != to) between.push_back(static_cast<std::uint32_t>(rank));
  }
  std::shuffle(between.begin(), between.end(), random);
  between.resize(below(between.size() + 1, random));
  between.push_back(static_cast<std::uint32_t>(to));
  planner::PlanTree path;
  path.rate = {1.0 + static_cast<double>(below(2, random))};
  auto at = static_cast<std::uint32_t>(from);
  for (const std::uint32_t next : between) path.edges.push_back({std::exchange(at, next), next});
  return path;
}

void add_latencies(planner::PlanTree& tree, Random& random) {
  for (std::size_t i = 0; i < tree.edges.size(); ++i) {
    const auto elements = static_cast<double>(below(2, random) * below(40, random));
    tree.latencies.push_back({elements * sizeof(Element) / tree.rate.value});
  }
}

}  // namespace espalier::testing::adversary
