// The state of one tree on a rank during one message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::runtime {

// Counters of the tree's segments; each is at most the preceding one.
struct Flow {
  std::uint64_t end = 0;     // total, including an empty message that ends the flow early
  std::uint64_t posted = 0;  // receives begun (not on the source)
  std::uint64_t here = 0;    // arrived; on the source, injected
  std::uint64_t kept = 0;    // reported to the store (not on the source)
  std::uint64_t freed = 0;   // sent to all children: their buffers may be reused
  // At least freed: sent to all children except those on exchange edges, which wait for the whole
  // share.
  std::uint64_t passed_on = 0;
  std::size_t at_once = 0;  // number of children that do not wait; those after them do
  bool stopped = false;     // the last of `end` is the empty message
  // Rings of the host: segments that are completely in this rank's ring; bytes of the next one in
  // it; bytes of segment `here` read from the parent's ring.
  std::uint64_t published = 0;
  std::uint64_t published_bytes = 0;
  std::uint64_t read_bytes = 0;
  struct Child {
    std::uint64_t started = 0;
    std::uint64_t sent = 0;
    double due_s = 0;  // MPI_Wtime: earliest start of the next send
  };
  std::vector<Child> children;

  [[nodiscard]] bool is_done() const { return freed == end; }
  // Whether the sends on exchange edges may begin.
  [[nodiscard]] bool is_passed_on() const {
    return here == end && std::all_of(children.begin(), children.begin() + std::ptrdiff_t(at_once),
                                      [this](const Child& child) { return child.started == end; });
  }
  [[nodiscard]] bool is_abort_marker(std::uint64_t nth) const { return stopped && nth + 1 == end; }
};

// The segment in slot `slot` of a window whose oldest segment is `oldest`; segment n occupies slot
// n modulo the window's size.
inline std::uint64_t segment_in_slot(std::uint64_t oldest, std::uint64_t slot,
                                     std::uint64_t window) {
  return oldest + (slot + window - oldest % window) % window;
}

}  // namespace espalier::runtime
