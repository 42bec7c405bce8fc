#include "tests/engine/adversary_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "planner/plan/send_windows.hpp"
#include "support/errors.hpp"
#include "tests/engine/adversary_stores.hpp"
#include "tests/support/schedules.hpp"

namespace espalier::testing::adversary {
namespace {

// From the root on; long, wide or neither. most_children: of a node.
planner::PlanTree random_tree(int ranks, int root, std::size_t most_children, Random& random) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0U);
  std::swap(order[0], order[static_cast<std::size_t>(root)]);
  std::shuffle(order.begin() + 1, order.end(), random);
  const std::uint64_t kind = below(3, random);
  std::vector<std::size_t> children(order.size(), 0);
  planner::PlanTree tree;
  tree.rate = {1.0 + static_cast<double>(below(1000, random))};
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t parent = kind == 0 ? i - 1 : kind == 1 ? 0 : below(i, random);
    while (children[parent] == most_children) ++parent;
    ++children[parent];
    tree.edges.push_back({order[parent], order[i]});
  }
  std::shuffle(tree.edges.begin(), tree.edges.end(), random);
  return tree;
}

bool has_valid_colors(const planner::Plan& plan) {
  try {
    planner::check_colors(plan);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

Case::Case(Random& random) {
  ranks = static_cast<int>(1 + below(7, random));
  root = static_cast<int>(below(static_cast<std::uint64_t>(ranks), random));
  for (int rank = 0; rank < ranks; ++rank) plan.nodes.push_back(fmt::format("n{}", rank));
  plan.source = plan.nodes[static_cast<std::size_t>(root)];
  grid.segment = 1 + below(4, random);
  grid.message = below(chance(20, random) ? 8 : 80, random);
  choose_trees(random);
  choose_options(random);
  choose_faults(random);
}

void Case::choose_trees(Random& random) {
  const std::uint64_t kind = ranks == 1 ? below(2, random) : below(8, random);
  if (kind == 0) return choose_rounds(random);
  if (kind == 1) return choose_schedule(random);
  const auto draw = [&](std::vector<planner::PlanTree>& trees) {
    const bool has_latencies = chance(25, random);
    for (std::size_t left = 1 + below(4, random); left > 0; --left) {
      planner::PlanTree& tree = trees.emplace_back(random_tree(ranks, root, 9, random));
      for (std::size_t i = 0; has_latencies && i < tree.edges.size(); ++i) {
        const auto bytes = static_cast<double>(below(2, random) * below(40, random));
        tree.latencies.push_back({bytes / tree.rate.value});
      }
    }
  };
  if (kind <= 5) draw(plan.broadcast_trees);
  if (kind >= 5) draw(plan.reduce_trees);
  if (kind != 2) return;
  for (planner::PlanTree& tree : plan.broadcast_trees) {
    std::ranges::copy_if(tree.edges, std::back_inserter(tree.exchange),
                         [&](const auto&) { return chance(30, random); });
  }
}

void Case::choose_rounds(Random& random) {
  in_rounds = true;
  const std::size_t trees = 1 + below(2, random);
  for (int attempt = 0; attempt < 40; ++attempt) {
    plan.broadcast_trees.clear();
    while (plan.broadcast_trees.size() < trees) {
      planner::PlanTree& tree = plan.broadcast_trees.emplace_back(
          random_tree(ranks, root, trees == 1 || chance(50, random) ? 2 : 1, random));
      tree.rate = {1};
      for (std::size_t i = 0; i < tree.edges.size(); ++i) {
        tree.colors.push_back(static_cast<std::uint8_t>(below(2, random)));
      }
    }
    if (has_valid_colors(plan)) return;
  }
  // A chain always has some.
  plan.broadcast_trees.assign(1, random_tree(ranks, root, 1, random));
  planner::PlanTree& chain = plan.broadcast_trees[0];
  chain.edges.clear();
  for (int i = 1; i < ranks; ++i) {
    const auto node = [&](int at) { return static_cast<std::uint32_t>((root + at) % ranks); };
    chain.edges.push_back({node(i - 1), node(i)});
    chain.colors.push_back(static_cast<std::uint8_t>(i % 2));
  }
}

void Case::choose_schedule(Random& random) {
  for (std::uint64_t left = 1 + below(3, random); left > 0; --left) {
    plan.broadcast_trees.push_back(random_tree(ranks, root, 9, random));
  }
  plan.segment = {grid.segment};
  plan.schedule = random_schedule(plan, random);
  slots.emplace(plan);
}

void Case::choose_options(Random& random) {
  options.sends_in_flight = 1 + below(3, random);
  options.receives_in_flight = 1 + below(4, random);
  options.synchronous = slots.has_value() || reduces() || chance(20, random);
  if (chance(30, random)) options.costs.eager = Bytes{below(5, random)};
  if (reduces() && chance(20, random)) options.least_in_flight = Bytes{below(200, random)};
  const bool is_free = !in_rounds && !slots;
  if (is_free && chance(30, random)) options.ports = 1 + below(3, random);
  const std::uint64_t least = in_rounds ? 2 : slots ? slots->buffer_segments() : 1;
  if (!reduces() && options.ports == 0 && chance(60, random)) capacity = least + below(4, random);
  in_place = chance(40, random);
}

void Case::choose_faults(Random& random) {
  const auto any_rank = [&] {
    return static_cast<int>(below(static_cast<std::uint64_t>(ranks), random));
  };
  compares_calls = chance(60, random);
  for (int rank = 0; rank < ranks; ++rank) {
    risks.push_back(compares_calls ? static_cast<engine::Risk>(below(3, random))
                                   : engine::Risk::kNone);
  }
  stoppable = !reduces() && options.ports == 0 && chance(30, random);
  if (stoppable && chance(70, random)) {
    failing = any_rank();
    fails_after = below(grid.count() + 1, random);
  } else if (compares_calls && ranks > 1 && !stoppable && !slots && chance(15, random)) {
    odd = any_rank();
  } else if (ranks > 1 && chance(15, random)) {
    frozen = any_rank();
    freezes_after = below(100, random);
  }
}

std::vector<int> Case::rank_of_node() const {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

engine::SegmentGrid Case::grid_of(int rank) const {
  engine::SegmentGrid mine = grid;
  if (rank == odd) mine.message = mine.message > 40 ? mine.message / 3 : mine.message + 7;
  return mine;
}

std::uint64_t expected_sum(const Case& of, const planner::PlanTree& tree, std::uint64_t at) {
  const std::function<Element(std::uint32_t)> sum_at = [&](std::uint32_t node) {
    Element sum = own_element(static_cast<int>(node), at);
    for (const auto [parent, child] : tree.edges) {
      if (parent == node) sum = combined(sum, sum_at(child));
    }
    return sum;
  };
  return sum_at(static_cast<std::uint32_t>(of.root));
}

}  // namespace espalier::testing::adversary
