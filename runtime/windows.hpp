// How many of a tree's slices may be under way between a rank and each of its neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/tree_role.hpp"
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

// For slices of `slice` bytes on their way down: `sends` to a child and `receives` from a parent
// where there is no latency, more where there is (planner::send_window). asks: a sender of such a
// slice asks the receiver first. A receive waits for every slice that may come.
std::vector<TreeWindows> windows_down(std::span<const TreeRole> roles, std::uint64_t receives,
                                      std::uint64_t sends, Bytes slice, bool asks);

}  // namespace espalier::runtime
