#include "planner/plan/shapes/oblivious_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <stdexcept>
#include <utility>

#include "planner/plan/shapes/relatives.hpp"
#include "planner/plan/shapes/two_tree_complete.hpp"

namespace espalier::planner {

namespace {

using Ranks = std::vector<std::uint32_t>;

constexpr std::uint8_t kNoColor = 2;

// children(rank): the ranks' that rank' `rank` sends to, in order; all of them greater than it.
template <class Children>
std::vector<ObliviousTree> one_tree(std::uint32_t ranks, Children children) {
  ObliviousTree tree;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (const std::uint32_t child : children(rank)) tree.edges.push_back({rank, child});
  }
  return {std::move(tree)};
}

constexpr std::array<std::pair<std::string_view, ObliviousShape>, 6> kShapes{
    {{"flat", flat_shape},
     {"chain", chain_shape},
     {"binary", binary_shape},
     {"binomial", binomial_shape},
     {"split-binary", split_binary_shape},
     {"two-tree-complete", two_tree_complete_shape}}};

// The ranks' of each host, in the order of the hosts' first ranks'.
std::vector<Ranks> members_of_hosts(std::span<const int> host_of) {
  std::map<int, std::size_t> number_of;
  std::vector<Ranks> members;
  for (std::uint32_t rank = 0; rank < host_of.size(); ++rank) {
    const auto [at, is_new] = number_of.emplace(host_of[rank], members.size());
    if (is_new) members.emplace_back();
    members[at->second].push_back(rank);
  }
  return members;
}

void add_edges(const ObliviousTree& among, const Ranks& ranks, ObliviousTree& to) {
  if (among.exchanges != 0) throw std::invalid_argument("exchange edges have no levels");
  for (const RankEdge& edge : among.edges) {
    to.edges.push_back({ranks[edge.parent], ranks[edge.child]});
  }
}

std::vector<ObliviousTree> trees_of(const ObliviousPlan& wanted) {
  const std::optional<ObliviousShape> shape = oblivious_shape(wanted.algorithm);
  if (!shape) throw std::invalid_argument("no shape of this name");
  if (wanted.host_of_rank.empty()) return (*shape)(wanted.ranks);
  std::vector<int> host_of(wanted.host_of_rank.begin(), wanted.host_of_rank.end());
  std::rotate(host_of.begin(), host_of.begin() + wanted.root, host_of.end());
  return hierarchical_shape(*shape, host_of);
}

// The edges below `parent` of the in-order tree over the places [first, first + count).
// rank_of(place): the rank' in that place.
template <class RankOf>
void add_in_order(std::uint32_t first, std::uint32_t count, std::uint32_t parent,
                  const RankOf& rank_of, std::vector<RankEdge>& edges) {
  if (count == 0) return;
  const std::uint32_t before = tree_algorithms::in_order_root(count);
  const std::uint32_t root = rank_of(first + before);
  edges.push_back({parent, root});
  add_in_order(first, before, root, rank_of, edges);
  add_in_order(first + before + 1, count - before - 1, root, rank_of, edges);
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

PlanTree tree_from(const ObliviousTree& shape, const ObliviousPlan& wanted, BytesPerSecond rate) {
  PlanTree tree;
  tree.rate = rate;
  for (const RankEdge& edge : shape.edges) {
    const auto rank_of = [&](std::uint32_t oblivious) {
      return static_cast<std::uint32_t>((std::uint64_t{oblivious} + wanted.root) % wanted.ranks);
    };
    tree.edges.push_back({rank_of(edge.parent), rank_of(edge.child)});
  }
  tree.exchange.assign(tree.edges.end() - static_cast<std::ptrdiff_t>(shape.exchanges),
                       tree.edges.end());
  return tree;
}

}  // namespace

std::vector<ObliviousTree> flat_shape(std::uint32_t ranks) {
  return one_tree(ranks, [ranks](std::uint32_t rank) {
    Ranks children;
    for (std::uint32_t child = 1; rank == 0 && child < ranks; ++child) children.push_back(child);
    return children;
  });
}

std::vector<ObliviousTree> chain_shape(std::uint32_t ranks) {
  return one_tree(ranks, [ranks](std::uint32_t rank) {
    return tree_algorithms::chain_relatives(ranks, rank).children;
  });
}

std::vector<ObliviousTree> binary_shape(std::uint32_t ranks) {
  return one_tree(ranks, [ranks](std::uint32_t rank) {
    return tree_algorithms::binary_relatives(ranks, rank).children;
  });
}

std::vector<ObliviousTree> binomial_shape(std::uint32_t ranks) {
  return one_tree(ranks, [ranks](std::uint32_t rank) {
    return tree_algorithms::binomial_relatives(ranks, rank).children;
  });
}

// Rank' r of the level that begins at 2^l - 1 sends to r + 2^l and r + 2^(l+1). Odd ranks' are then
// in the left subtree, even ones in the right, and the two have equal sizes or the left has one
// more. The left rank' r is paired with the right r + 1. So at most one rank' has no partner: the
// last one where n is even; the source sends it the right half.
std::vector<ObliviousTree> split_binary_shape(std::uint32_t ranks) {
  std::vector<ObliviousTree> trees(2);
  const auto half_of = [&](std::uint32_t child) -> ObliviousTree& {
    return child % 2 == 1 ? trees[0] : trees[1];
  };
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t level = std::bit_floor(rank + 1);
    for (const std::uint32_t child : {rank + level, rank + 2 * level}) {
      if (child < ranks) half_of(child).edges.push_back({rank, child});
    }
  }
  const auto exchange = [](ObliviousTree& tree, std::uint32_t from, std::uint32_t to) {
    tree.edges.push_back({from, to});
    ++tree.exchanges;
  };
  for (std::uint32_t left = 1; left < ranks; left += 2) {
    const bool paired = left + 1 < ranks;
    if (paired) exchange(trees[0], left, left + 1);
    exchange(trees[1], paired ? left + 1 : 0, left);
  }
  return trees;
}

std::vector<ObliviousTree> two_tree_complete_shape(std::uint32_t ranks) {
  std::vector<ObliviousTree> trees(2);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const tree_algorithms::TreeRelatives left = tree_algorithms::two_tree_relatives(i, ranks).left;
    for (const std::uint32_t child : left.children()) trees[0].edges.push_back({i, child});
    const std::uint32_t rank = (ranks - i) % ranks;  // the source, then p - 1 downwards
    const tree_algorithms::TreeRelatives right =
        tree_algorithms::two_tree_relatives(rank, ranks).right;
    for (const std::uint32_t child : right.children()) trees[1].edges.push_back({rank, child});
  }
  return trees;
}

std::vector<ObliviousTree> two_tree_in_order_shape(std::uint32_t ranks) {
  std::vector<ObliviousTree> trees(2);
  for (const std::uint32_t tree : {0U, 1U}) {
    add_in_order(
        0, ranks - 1, 0,
        [=](std::uint32_t place) { return tree_algorithms::in_order_rank(tree, place, ranks); },
        trees[tree].edges);
  }
  return trees;
}

std::vector<ObliviousTree> two_tree_sanders_shape(std::uint32_t ranks) {
  std::vector<ObliviousTree> trees = two_tree_in_order_shape(ranks);
  color(trees, ranks);
  return trees;
}

std::optional<ObliviousShape> oblivious_shape(std::string_view algorithm) {
  for (const auto& [name, shape] : kShapes) {
    if (name == algorithm) return shape;
  }
  return std::nullopt;
}

std::vector<ObliviousTree> hierarchical_shape(ObliviousShape shape, std::span<const int> host_of) {
  const std::vector<Ranks> members = members_of_hosts(host_of);
  Ranks leaders;
  for (const Ranks& of_host : members) leaders.push_back(of_host.front());
  std::vector<ObliviousTree> trees(shape(1).size());
  const auto add = [&](const Ranks& ranks) {
    const std::vector<ObliviousTree> among = shape(static_cast<std::uint32_t>(ranks.size()));
    for (std::size_t i = 0; i < trees.size(); ++i) add_edges(among[i], ranks, trees[i]);
  };
  add(leaders);
  for (const Ranks& of_host : members) add(of_host);
  return trees;
}

Plan plan_of(const ObliviousPlan& wanted) {
  Plan plan;
  plan.operation = wanted.operation;
  plan.model = "one-port";
  plan.algorithm = wanted.host_of_rank.empty() ? "" : "hierarchical-";
  plan.algorithm += wanted.algorithm;
  for (std::uint32_t rank = 0; rank < wanted.ranks; ++rank) {
    plan.nodes.push_back(fmt::format("rank{}", rank));
  }
  plan.source = plan.nodes[wanted.root];
  plan.throughput = wanted.throughput;
  const std::vector<ObliviousTree> trees = trees_of(wanted);
  const BytesPerSecond rate{wanted.throughput.value / static_cast<double>(trees.size())};
  for (const ObliviousTree& tree : trees) {
    const PlanTree made = tree_from(tree, wanted, rate);
    if (reduces(wanted.operation)) {
      if (!made.exchange.empty()) {
        throw std::invalid_argument("a reduction has no exchange edges");
      }
      plan.reduce_trees.push_back(made);
    }
    if (broadcasts(wanted.operation)) plan.broadcast_trees.push_back(made);
  }
  return plan;
}

}  // namespace espalier::planner
