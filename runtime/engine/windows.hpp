// How many of a tree's segments may be in progress between a rank and each of its neighbours in the
// tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/engine/tree_role.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {

// For one tree: the most requests in progress with the parent and with each child.
struct TreeWindows {
  std::uint64_t parent = 0;
  std::vector<std::uint64_t> children;  // of each child
  bool operator==(const TreeWindows&) const = default;
};

// The same for every neighbour.
std::vector<TreeWindows> even_windows(std::span<const TreeRole> roles, std::uint64_t parent,
                                      std::uint64_t child);

// Windows of a broadcast for segments of `segment` bytes: `sends` to a child and `receives` from a
// parent without latency, more with latency (planner::send_window). asks: MPI sends such segments
// by a rendezvous. A receive is posted for every segment that may arrive.
std::vector<TreeWindows> windows_down(std::span<const TreeRole> roles, std::uint64_t receives,
                                      std::uint64_t sends, Bytes segment, bool asks);

// Windows of a reduction, whose sends complete when the parent has answered: `sends` to a parent
// and `receives` from a child without latency.
std::vector<TreeWindows> windows_up(std::span<const TreeRole> roles, std::uint64_t receives,
                                    std::uint64_t sends, Bytes segment);

// planner::source_lookahead of the source or root with these windows, each of which is `base`
// without latency.
std::uint64_t lookahead_over(std::span<const TreeWindows> windows, std::uint64_t base);

}  // namespace espalier::runtime
