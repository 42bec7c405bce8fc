// One rank's neighbours in the regular topology-oblivious trees (oblivious_shapes.hpp), by
// arithmetic: in O(1) or O(log n), and without the other ranks' edges. The complete trees of TTC
// are in two_tree_complete.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace espalier::planner {

struct Relatives {
  std::optional<std::uint32_t> parent{};  // unset: the root
  std::vector<std::uint32_t> children{};  // in the order of the tree's edges
  friend bool operator==(const Relatives&, const Relatives&) = default;
};

// Of one rank in each of a shape's one or two trees, as ranks: "chain", "binary", "binomial",
// "two-tree-complete" or "two-tree-sanders" (without its colors, which follow only from
// all edges). Unset: any other name. root, rank < ranks < 2^31.
std::optional<std::vector<Relatives>> relatives_of(std::string_view algorithm, std::uint32_t ranks,
                                                   std::uint32_t root, std::uint32_t rank);

// Of the trees themselves: rank is relative to the source, less than `ranks`.
namespace tree_algorithms {
Relatives chain_relatives(std::uint32_t ranks, std::uint32_t rank);
Relatives binary_relatives(std::uint32_t ranks, std::uint32_t rank);
Relatives binomial_relatives(std::uint32_t ranks, std::uint32_t rank);

// TwoTreeS (Sanders, Speck, Traeff, doi:10.1016/j.parco.2009.09.001): the ranks' 1 to n - 1 are
// in-order in both trees below the source. The second is the first mirrored where their number is
// even. Where it is odd it is the first shifted by one place, the last rank' taking the first
// place. Both change the parity of a rank's place, and so whether it is a leaf. (When shifted, the
// last rank' is a leaf in both trees.) place: 0 to n - 2.
std::uint32_t in_order_rank(std::uint32_t tree, std::uint32_t place, std::uint32_t ranks);

// Where the root is among `count` > 0 places of an in-order tree: with h = ceil(log2(count + 1)),
// after a complete tree over the first 2^(h-1) - 1, and before a tree built in the same way over
// the rest. So even places (from 0) are leaves, odd ones are not. Of 2^k places the last is the
// root and has one child, a complete tree: the paper's extra level for 2^k + 1 processes.
std::uint32_t in_order_root(std::uint32_t count);
}  // namespace tree_algorithms

}  // namespace espalier::planner
