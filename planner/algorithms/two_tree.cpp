// Two spanning trees that each carry half of the message: a host that only receives in one tree
// sends in the other, so that no host's bandwidth is idle.
#include <bit>
#include <vector>

#include "planner/algorithms/algorithms.hpp"
#include "planner/algorithms/oblivious_tree.hpp"
#include "planner/plan/two_tree_complete.hpp"

namespace espalier::planner::tree_algorithms {

namespace {

constexpr std::uint8_t kNoColor = 2;

// The edges below `parent` of a tree over the numbers [first, first + count), numbered in-order:
// with h = ceil(log2(count + 1)), a complete tree over the first 2^(h-1) - 1, the root, and a tree
// built in the same way over the rest. So even places (from 0) are leaves, odd ones are not. Of 2^k
// numbers the last is the root and has one child, a complete tree: the paper's extra level for 2^k
// + 1 processes. rank_of(number): the rank' in that place.
template <class RankOf>
void add_in_order(std::uint32_t first, std::uint32_t count, std::uint32_t parent,
                  const RankOf& rank_of, std::vector<RankEdge>& edges) {
  if (count == 0) return;
  const std::uint32_t half = std::bit_ceil(count + 1) / 2;
  const std::uint32_t root = rank_of(first + half - 1);
  edges.push_back({parent, root});
  add_in_order(first, half - 1, root, rank_of, edges);
  add_in_order(first + half, count - half, root, rank_of, edges);
}

// Colors the edges of both trees so that the sends of a rank have different colors, and so have its
// receives. Senders and receivers form a bipartite graph in which every node has at most two edges:
// paths and even cycles, along which the colors alternate.
void color(std::vector<ObliviousTree>& trees, std::size_t ranks) {
  struct Place {
    std::size_t tree;
    std::size_t edge;
  };
  std::vector<std::vector<Place>> at(2 * ranks);  // senders, then receivers
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    trees[tree].colors.assign(trees[tree].edges.size(), kNoColor);
    for (std::size_t edge = 0; edge < trees[tree].edges.size(); ++edge) {
      at[trees[tree].edges[edge].parent].push_back({tree, edge});
      at[ranks + trees[tree].edges[edge].child].push_back({tree, edge});
    }
  }
  std::vector<Place> reached;
  const auto give = [&](Place place, std::uint8_t which) {
    std::uint8_t& mine = trees[place.tree].colors[place.edge];
    if (mine != kNoColor) return;
    mine = which;
    reached.push_back(place);
  };
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    for (std::size_t edge = 0; edge < trees[tree].edges.size(); ++edge) {
      give({tree, edge}, 0);
      while (!reached.empty()) {
        const Place here = reached.back();
        reached.pop_back();
        const RankEdge ends = trees[here.tree].edges[here.edge];
        const auto other = static_cast<std::uint8_t>(1 - trees[here.tree].colors[here.edge]);
        for (const Place next : at[ends.parent]) give(next, other);
        for (const Place next : at[ranks + ends.child]) give(next, other);
      }
    }
  }
}

// TTC, section "TwoTreeC+C": both are complete trees below the source. Level by level the first has
// the false ranks upwards from ceil(P / 2), the second downwards from `second`, both cyclically
// within 1 to P - 1. TTC prints floor(P / 2) for `second`: where P is even, both begin with the
// same host, which then has children in both. With ceil(P / 2) - 1 no host has: docs/methods.md,
// "Two complete trees from the middle".
Outcome from_middle(const Instance& instance, const AlgorithmOptions& options,
                    std::uint32_t second) {
  const auto ranks = static_cast<std::uint32_t>(instance.host_count());
  const std::uint32_t circle = ranks - 1;
  const auto upwards = [&](std::uint32_t place) {
    return place == 0 ? 0 : 1 + (place - 1 + (ranks + 1) / 2 - 1) % circle;
  };
  const auto downwards = [&](std::uint32_t place) {
    return place == 0 ? 0 : 1 + (2 * circle + second - 1 - (place - 1)) % circle;
  };
  std::vector<ObliviousTree> trees(2);
  for (std::uint32_t place = 0; place < ranks; ++place) {
    const TreeRelatives relatives = two_tree_relatives(place, ranks).left;
    for (const std::uint32_t child : relatives.children()) {
      trees[0].edges.push_back({upwards(place), upwards(child)});
      trees[1].edges.push_back({downwards(place), downwards(child)});
    }
  }
  return lay_over(instance, options, trees);
}

}  // namespace

// The ranks' 1 to n-1 are in-order in both trees. The second is the first mirrored where their
// number is even. Where it is odd it is the first shifted by one place, the last rank' taking the
// first place. Both change the parity of a rank's place, and so whether it is a leaf. (When
// shifted, the last rank' is a leaf in both trees.)
Outcome two_tree_sanders(const Instance& instance, const AlgorithmOptions& options) {
  const auto ranks = static_cast<std::uint32_t>(instance.host_count());
  const std::uint32_t count = ranks - 1;
  std::vector<ObliviousTree> trees(2);
  add_in_order(
      0, count, 0, [](std::uint32_t number) { return number + 1; }, trees[0].edges);
  add_in_order(
      0, count, 0,
      [&](std::uint32_t number) {
        return 1 + (count % 2 == 0 ? count - 1 - number : (number + count - 1) % count);
      },
      trees[1].edges);
  color(trees, ranks);
  return lay_over(instance, options, trees);
}

Outcome two_tree_from_middle(const Instance& instance, const AlgorithmOptions& options) {
  const auto ranks = static_cast<std::uint32_t>(instance.host_count());
  return from_middle(instance, options, ranks / 2);
}

Outcome two_tree_from_middle_repaired(const Instance& instance, const AlgorithmOptions& options) {
  const auto ranks = static_cast<std::uint32_t>(instance.host_count());
  return from_middle(instance, options, (ranks + 1) / 2 - 1);
}

}  // namespace espalier::planner::tree_algorithms
