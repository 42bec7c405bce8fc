// How many of a tree's segments may be in progress between a rank and each of its neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/engine/tree_role.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {

// Of one tree: requests at one time.
struct TreeWindows {
  std::uint64_t parent = 0;
  std::vector<std::uint64_t> children;  // of each child
  bool operator==(const TreeWindows&) const = default;
};

// The same for every neighbour.
std::vector<TreeWindows> even_windows(std::span<const TreeRole> roles, std::uint64_t parent,
                                      std::uint64_t child);

// For segments of `segment` bytes on their way down: `sends` to a child and `receives` from a
// parent where there is no latency, more where there is (planner::send_window). asks: a sender of
// such a segment asks the receiver first. A receive waits for every segment that may come.
std::vector<TreeWindows> windows_down(std::span<const TreeRole> roles, std::uint64_t receives,
                                      std::uint64_t sends, Bytes segment, bool asks);

// For segments on their way up, whose sends end when the parent has answered: `sends` to a parent
// and `receives` from a child where there is no latency.
std::vector<TreeWindows> windows_up(std::span<const TreeRole> roles, std::uint64_t receives,
                                    std::uint64_t sends, Bytes segment);

// planner::source_lookahead of the source or root that has such windows with its children, each
// `base` where there is no latency.
std::uint64_t lookahead_over(std::span<const TreeWindows> windows, std::uint64_t base);

}  // namespace espalier::runtime
