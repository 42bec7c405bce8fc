#include "planner/plan/shapes/relatives.hpp"

#include <array>
#include <bit>
#include <utility>

#include "planner/plan/shapes/two_tree_complete.hpp"

namespace espalier::planner {

namespace tree_algorithms {

Relatives chain_relatives(std::uint32_t ranks, std::uint32_t rank) {
  Relatives relatives;
  if (rank > 0) relatives.parent = rank - 1;
  if (rank + 1 < ranks) relatives.children = {rank + 1};
  return relatives;
}

Relatives binary_relatives(std::uint32_t ranks, std::uint32_t rank) {
  Relatives relatives;
  if (rank > 0) relatives.parent = (rank - 1) / 2;
  for (const std::uint64_t child : {2 * std::uint64_t{rank} + 1, 2 * std::uint64_t{rank} + 2}) {
    if (child < ranks) relatives.children.push_back(static_cast<std::uint32_t>(child));
  }
  return relatives;
}

Relatives binomial_relatives(std::uint32_t ranks, std::uint32_t rank) {
  Relatives relatives;
  const std::uint32_t lowest_bit = rank & (~rank + 1);
  if (rank > 0) relatives.parent = rank - lowest_bit;
  const std::uint32_t below = rank == 0 ? std::bit_ceil(ranks) : lowest_bit;
  for (std::uint32_t step = below / 2; step > 0; step /= 2) {
    if (rank + step < ranks) relatives.children.push_back(rank + step);
  }
  return relatives;
}

std::uint32_t in_order_rank(std::uint32_t tree, std::uint32_t place, std::uint32_t ranks) {
  const std::uint32_t count = ranks - 1;
  if (tree == 0) return 1 + place;
  if (count % 2 == 0) return count - place;
  return place == 0 ? count : place;
}

std::uint32_t in_order_root(std::uint32_t count) {
  return std::bit_ceil(count + 1) / 2 - 1;
}

}  // namespace tree_algorithms

namespace {

using OfRank = std::vector<Relatives> (*)(std::uint32_t ranks, std::uint32_t rank);

// The inverse of in_order_rank.
std::uint32_t in_order_place(std::uint32_t tree, std::uint32_t rank, std::uint32_t ranks) {
  const std::uint32_t count = ranks - 1;
  if (tree == 0) return rank - 1;
  if (count % 2 == 0) return count - rank;
  return rank == count ? 0 : rank;
}

// From the tree's root down to the rank.
Relatives in_order_relatives(std::uint32_t tree, std::uint32_t ranks, std::uint32_t rank) {
  using tree_algorithms::in_order_rank;
  using tree_algorithms::in_order_root;
  std::uint32_t first = 0;  // of the places of the subtree
  std::uint32_t count = ranks - 1;
  const auto add_root = [&](Relatives& of, std::uint32_t from, std::uint32_t places) {
    if (places == 0) return;
    of.children.push_back(in_order_rank(tree, from + in_order_root(places), ranks));
  };
  Relatives relatives;
  if (rank == 0) {
    add_root(relatives, first, count);
    return relatives;
  }
  const std::uint32_t place = in_order_place(tree, rank, ranks);
  std::uint32_t parent = 0;
  for (;;) {
    const std::uint32_t before = in_order_root(count);
    const std::uint32_t root = first + before;
    if (place == root) {
      relatives.parent = parent;
      add_root(relatives, first, before);
      add_root(relatives, root + 1, count - before - 1);
      return relatives;
    }
    parent = in_order_rank(tree, root, ranks);
    if (place > root) first = root + 1;
    count = place > root ? count - before - 1 : before;
  }
}

Relatives complete_relatives(const tree_algorithms::TreeRelatives& tree, std::uint32_t rank) {
  Relatives relatives;
  if (rank > 0) relatives.parent = tree.parent;
  relatives.children.assign(tree.children().begin(), tree.children().end());
  return relatives;
}

constexpr std::array<std::pair<std::string_view, OfRank>, 5> kOfRank{
    {{"chain",
      [](std::uint32_t ranks, std::uint32_t rank) {
        return std::vector{tree_algorithms::chain_relatives(ranks, rank)};
      }},
     {"binary",
      [](std::uint32_t ranks, std::uint32_t rank) {
        return std::vector{tree_algorithms::binary_relatives(ranks, rank)};
      }},
     {"binomial",
      [](std::uint32_t ranks, std::uint32_t rank) {
        return std::vector{tree_algorithms::binomial_relatives(ranks, rank)};
      }},
     {"two-tree-complete",
      [](std::uint32_t ranks, std::uint32_t rank) {
        const auto both = tree_algorithms::two_tree_relatives(rank, ranks);
        return std::vector{complete_relatives(both.left, rank),
                           complete_relatives(both.right, rank)};
      }},
     {"two-tree-sanders", [](std::uint32_t ranks, std::uint32_t rank) {
        return std::vector{in_order_relatives(0, ranks, rank), in_order_relatives(1, ranks, rank)};
      }}}};

}  // namespace

std::optional<std::vector<Relatives>> relatives_of(std::string_view algorithm, std::uint32_t ranks,
                                                   std::uint32_t root, std::uint32_t rank) {
  for (const auto& [name, of_rank] : kOfRank) {
    if (name != algorithm) continue;
    // All below 2^31, so that no sum overflows.
    std::vector<Relatives> trees = of_rank(ranks, (rank + ranks - root) % ranks);
    for (Relatives& tree : trees) {
      if (tree.parent) tree.parent = (*tree.parent + root) % ranks;
      for (std::uint32_t& child : tree.children) child = (child + root) % ranks;
    }
    return trees;
  }
  return std::nullopt;
}

}  // namespace espalier::planner
