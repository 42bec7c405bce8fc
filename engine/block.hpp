// What a call moves: blocks, each a range of the message that goes one way along its trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/rounds.hpp"
#include "engine/segments.hpp"
#include "engine/tree_role.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "support/quantities.hpp"

namespace espalier::engine {

// As one rank sees it. In all of a block's trees segments are copied from its root, or combined at
// its root. Where it routes, the trees are paths from its root to one receiver: a copy without
// branches, and the ranks of a path in between pass on what they have no use for.
struct Block {
  bool is_root = false;                   // this rank is the root
  std::vector<TreeRole> trees;            // at least one; all combine, or none
  planner::SegmentAssignment assignment;  // of the block's segments to its trees
  // An earlier block, which combines the same range at the same root: a segment is copied from
  // there once it is combined. Ranks have one buffer for both, or two.
  std::optional<std::size_t> after{};
  bool synchronous = false;   // a send completes only after its receive was posted
  Bytes least_in_flight{};    // both windows hold at least this many bytes, up to 256 segments
  double most_in_flight = 0;  // planner::most_bytes_in_flight of the trees, all ranks' edges
  std::vector<TreeRounds> rounds{};  // of this rank, one per tree; empty: no rounds
  // The number of its first tree, where blocks that do not concern this rank are left out; unset:
  // it follows the last one of the block before it.
  std::optional<std::size_t> first_tree{};
  bool routes = false;

  [[nodiscard]] bool combines() const { return trees.front().combines; }
  // Whether this rank has anything to do for it.
  [[nodiscard]] bool concerns_rank() const;
};

// The part of a message that a block carries, and its segments.
struct Range {
  std::uint64_t first = 0;  // offset in the message, in units of the grid
  SegmentGrid grid;
};

// The roles in all blocks' trees, with their numbers.
std::vector<TreeRole> trees_of(std::span<const Block> blocks);

// When segment `index` of `count` is due, as a part of the time of the whole message: all blocks
// begin and end together. The order of segments over all blocks.
inline double turn_of(std::uint64_t index, std::uint64_t count) {
  return (static_cast<double>(index) + 0.5) / static_cast<double>(count);
}

}  // namespace espalier::engine
