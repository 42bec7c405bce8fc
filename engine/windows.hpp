// How many of a tree's segments may be in progress between a rank and each of its neighbours in the
// tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/tree_role.hpp"
#include "support/quantities.hpp"

namespace espalier::engine {

// For one tree: the most receives in progress on each in-edge, and sends on each out-edge.
struct TreeWindows {
  std::vector<std::uint64_t> in;
  std::vector<std::uint64_t> out;
  bool operator==(const TreeWindows&) const = default;
};

// Windows for segments of `segment` bytes: `receives` and `sends` along an edge without latency,
// more with latency (planner::send_window). asks: the sender of such a segment waits for the
// receiver's answer. A receive is posted for every segment that may arrive.
std::vector<TreeWindows> windows_of(std::span<const TreeRole> roles, std::uint64_t receives,
                                    std::uint64_t sends, Bytes segment, bool asks);

// How many segments of each in-edge a rank that combines has to hold, with these windows. Unless
// it keeps the result, the first in-edge's buffers also hold combined segments until they have been
// sent.
std::vector<std::uint64_t> combining_buffers(const TreeWindows& windows, bool keeps_result);

// How many segments a rank holds at most that forwards them without keeping them.
std::uint64_t forwarding_buffers(const TreeWindows& windows);
// Of a tree that routes `end` segments: how many of them a rank has buffers for that only forwards
// them; 0: it does not forward them, and has memory for what it receives.
std::uint64_t routing_buffers(const TreeRole& role, const TreeWindows& windows, std::uint64_t end);

// planner::source_lookahead of the root with these windows, each of which is `base` without
// latency. The windows of its sends count, or those of its receives where segments are combined.
std::uint64_t lookahead_over(std::span<const TreeRole> roles, std::span<const TreeWindows> windows,
                             std::uint64_t base);

}  // namespace espalier::engine
