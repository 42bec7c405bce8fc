#include "runtime/windows.hpp"

#include "planner/send_windows.hpp"

namespace espalier::runtime {

std::vector<TreeWindows> even_windows(std::span<const TreeRole> roles, std::uint64_t parent,
                                      std::uint64_t child) {
  std::vector<TreeWindows> windows;
  for (const TreeRole& role : roles) {
    windows.push_back({parent, std::vector<std::uint64_t>(role.children.size(), child)});
  }
  return windows;
}

std::vector<TreeWindows> windows_down(std::span<const TreeRole> roles, std::uint64_t receives,
                                      std::uint64_t sends, Bytes slice, bool asks) {
  std::vector<TreeWindows> windows;
  for (const TreeRole& role : roles) {
    TreeWindows& tree = windows.emplace_back();
    tree.parent = planner::send_window(receives, role.bytes_from_parent, slice, asks);
    for (const double on_the_way : role.bytes_to_child) {
      tree.children.push_back(planner::send_window(sends, on_the_way, slice, asks));
    }
  }
  return windows;
}

}  // namespace espalier::runtime
