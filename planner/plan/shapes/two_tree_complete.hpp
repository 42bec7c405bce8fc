// TwoTreeC (TTC, Algorithm 1): two trees below the source in which every rank computes its own
// neighbours in O(1), with the corrections of docs/methods.md, "Two complete trees".
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace espalier::planner::tree_algorithms {

// The neighbours of one rank in one tree, as false ranks: (rank - source) mod ranks.
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
