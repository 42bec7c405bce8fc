#include "engine/windows.hpp"

#include <algorithm>

#include "planner/plan/segment_assignment.hpp"
#include "planner/plan/send_windows.hpp"

namespace espalier::engine {
namespace {

// A ring is read and written a few cells at a time, each of at most one segment.
constexpr std::uint64_t kRingWindow = 8;

}  // namespace

std::vector<TreeWindows> windows_of(std::span<const TreeRole> roles, std::uint64_t receives,
                                    std::uint64_t sends, Bytes segment, bool asks) {
  const auto window = [&](const Edge& edge, std::uint64_t base) {
    if (edge.uses_ring()) return kRingWindow;
    return planner::send_window(base, edge.bytes_in_flight, segment, asks);
  };
  std::vector<TreeWindows> windows;
  for (const TreeRole& role : roles) {
    TreeWindows& tree = windows.emplace_back();
    for (const Edge& edge : role.in) tree.in.push_back(window(edge, receives));
    for (const Edge& edge : role.out) tree.out.push_back(window(edge, sends));
  }
  return windows;
}

std::vector<std::uint64_t> combining_buffers(const TreeWindows& windows, bool keeps_result) {
  std::vector<std::uint64_t> buffers = windows.in;
  if (!buffers.empty() && !windows.out.empty() && !keeps_result) buffers[0] += windows.out[0];
  return buffers;
}

std::uint64_t forwarding_buffers(const TreeWindows& windows) {
  return windows.in.front() + windows.out.front();
}

std::uint64_t routing_buffers(const TreeRole& role, const TreeWindows& windows, std::uint64_t end) {
  return role.passes_on() ? std::min(forwarding_buffers(windows), end) : 0;
}

std::uint64_t lookahead_over(std::span<const TreeRole> roles, std::span<const TreeWindows> windows,
                             std::uint64_t base) {
  std::vector<std::uint64_t> largest;
  for (std::size_t tree = 0; tree < roles.size(); ++tree) {
    const bool combines = roles[tree].combines;
    const auto& edges = combines ? roles[tree].in : roles[tree].out;
    const auto& of_edges = combines ? windows[tree].in : windows[tree].out;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (!edges[i].uses_ring()) most = std::max(most, of_edges[i]);
    }
    largest.push_back(most);
  }
  return planner::source_lookahead(largest, base);
}

}  // namespace espalier::engine
