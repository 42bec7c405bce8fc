#include "runtime/engine/windows.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "planner/plan/segment_assignment.hpp"
#include "planner/plan/send_windows.hpp"

namespace espalier::runtime {

std::vector<TreeWindows> even_windows(std::span<const TreeRole> roles, std::uint64_t parent,
                                      std::uint64_t child) {
  std::vector<TreeWindows> windows;
  for (const TreeRole& role : roles) {
    windows.push_back({parent, std::vector<std::uint64_t>(role.children.size(), child)});
  }
  return windows;
}

namespace {

std::vector<TreeWindows> windows_of(std::span<const TreeRole> roles, std::uint64_t parent,
                                    std::uint64_t child, Bytes segment, bool asks) {
  std::vector<TreeWindows> windows;
  for (const TreeRole& role : roles) {
    TreeWindows& tree = windows.emplace_back();
    tree.parent = planner::send_window(parent, role.bytes_from_parent, segment, asks);
    for (const double in_flight : role.bytes_to_child) {
      tree.children.push_back(planner::send_window(child, in_flight, segment, asks));
    }
  }
  return windows;
}

}  // namespace

std::vector<TreeWindows> windows_down(std::span<const TreeRole> roles, std::uint64_t receives,
                                      std::uint64_t sends, Bytes segment, bool asks) {
  return windows_of(roles, receives, sends, segment, asks);
}

std::vector<TreeWindows> windows_up(std::span<const TreeRole> roles, std::uint64_t receives,
                                    std::uint64_t sends, Bytes segment) {
  return windows_of(roles, sends, receives, segment, true);
}

std::uint64_t lookahead_over(std::span<const TreeWindows> windows, std::uint64_t base) {
  std::vector<std::uint64_t> largest;
  for (const TreeWindows& tree : windows) {
    largest.push_back(tree.children.empty() ? 0 : std::ranges::max(tree.children));
  }
  return planner::source_lookahead(largest, base);
}

}  // namespace espalier::runtime
