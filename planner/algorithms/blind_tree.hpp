// What topology-blind algorithms share: shapes over ranks relative to the source, laid over the
// platform. A hop between two hosts that no link joins goes along the fastest path, through relays
// and other hosts alike, and loads it. Where there is no path either, links being one-way, the
// sender's own parent takes the child over, in the end the source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/registry.hpp"

namespace espalier::planner::tree_algorithms {

// Both ends are ranks': (rank - source) mod n, so that the source is rank' 0.
struct RankEdge {
  std::uint32_t parent;
  std::uint32_t child;
};

struct BlindTree {
  std::vector<RankEdge> edges;  // n - 1 of them; the one into a rank' stands before those out of it
  std::vector<std::uint8_t> colors{};  // 0 or 1, one an edge; empty: the shape knows no colors
  std::size_t exchanges = 0;           // the last so many edges are carried out after the others
};

// The shapes over the instance's hosts, all at one rate, the largest at which they are jointly
// feasible. The outcome has the colors only if every edge joins the ranks that the shape says:
// taking over changes who sends, and a sender may then have two edges of one color.
Outcome lay_over(const Instance& instance, std::span<const BlindTree> trees);

// children(rank): what rank' `rank` of `ranks` sends to, in order; all of them greater than it.
template <class Children>
BlindTree blind_tree(std::size_t ranks, Children children) {
  BlindTree tree;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (const std::uint32_t child : children(rank)) tree.edges.push_back({rank, child});
  }
  return tree;
}

}  // namespace espalier::planner::tree_algorithms
