// Two trees in which every rank computes its own neighbours in O(1): TwoTreeC.
//
// Source: "Efficient Two Trees to Optimize Collectives: Broadcast, Reduce, and Allreduce" (TTC),
// section "Two Tree Complete", Algorithm 1. It simplifies the two trees of Sanders, Speck and
// Traeff, Parallel Computing 35 (2009), doi:10.1016/j.parco.2009.09.001.
//
// Both trees are below the source, which is false rank 0. The left one numbers the others level by
// level upwards from 1, the right one downwards from p - 1: the right tree is the left one with
// false rank r in place of p - r, and the roots are 1 and p - 1. A rank with children in one tree
// has none in the other; p / 2, where p is even, has none in either.
//
// Corrections to the printed algorithm: its divisions are integer divisions (rightParent has a
// fraction bar; with fractions p - (p - rank) / 2 would not be a rank). A single process has no
// children, where line 4 gives it rank 1. The text's (rank - k) % P for the false rank must not be
// negative, as it may be with C's operator. Algorithm 2 lets the source send even chunks down the
// left tree, while the text has the others expect odd ones there; a plan assigns segments to trees
// by rate and needs neither.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace espalier::planner::tree_algorithms {

// The neighbours of one rank in one tree, as false ranks.
struct TreeRelatives {
  std::uint32_t parent = 0;  // the source's is 0, itself
  std::array<std::uint32_t, 2> child{};
  std::uint32_t child_count = 0;

  [[nodiscard]] constexpr std::span<const std::uint32_t> children() const& {
    return std::span(child).first(child_count);
  }
  std::span<const std::uint32_t> children() && = delete;  // would point into a temporary
};

struct TwoTreeRelatives {
  TreeRelatives left;
  TreeRelatives right;
};

// (rank - source) mod ranks; its inverse is (false rank + source) mod ranks. Both below `ranks`.
constexpr std::uint32_t false_rank(std::uint32_t rank, std::uint32_t source, std::uint32_t ranks) {
  return (rank + ranks - source) % ranks;
}

// The neighbours of false rank `rank` of `ranks`. 0 <= rank < ranks < 2^31.
constexpr TwoTreeRelatives two_tree_relatives(std::uint32_t rank, std::uint32_t ranks) {
  TwoTreeRelatives relatives;
  auto& [left, right] = relatives;
  if (rank == 0) {
    left.child[0] = 1;
    right.child[0] = ranks - 1;
    left.child_count = right.child_count = ranks > 1 ? 1 : 0;
    return relatives;
  }
  const std::uint32_t mirrored = ranks - rank;
  left.parent = rank / 2;
  right.parent = (ranks - mirrored / 2) % ranks;
  for (const std::uint32_t side : {0U, 1U}) {
    if (2 * rank + side < ranks) left.child[left.child_count++] = 2 * rank + side;
    if (2 * mirrored + side < ranks) {
      right.child[right.child_count++] = ranks - 2 * mirrored - side;
    }
  }
  return relatives;
}

}  // namespace espalier::planner::tree_algorithms
