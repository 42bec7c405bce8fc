// The state of one tree while one message passes a rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::runtime {

// Counters of the tree's segments, each at most the one before it.
struct Flow {
  std::uint64_t end = 0;     // that there will be, the word to stop included
  std::uint64_t posted = 0;  // receives begun (not on the source)
  std::uint64_t here = 0;    // arrived; on the source, let go
  std::uint64_t kept = 0;    // told to the store (not on the source)
  std::uint64_t freed = 0;   // sent to all children: their room may be used again
  // At least freed: sent to all children but those who wait for the whole, on exchange edges.
  std::uint64_t passed_on = 0;
  std::size_t at_once = 0;  // the children after the first so many wait
  bool stopped = false;     // the last of `end` is the word to stop
  // Through rings of the host: segments that are all in this rank's own; bytes of the next one that
  // are; bytes of segment `here` that have come out of the parent's.
  std::uint64_t published = 0;
  std::uint64_t published_bytes = 0;
  std::uint64_t read_bytes = 0;
  struct Child {
    std::uint64_t started = 0;
    std::uint64_t sent = 0;
    double due_s = 0;  // MPI_Wtime: the next is not to be started before
  };
  std::vector<Child> children;

  [[nodiscard]] bool is_done() const { return freed == end; }
  // Whether those who wait have waited long enough.
  [[nodiscard]] bool is_passed_on() const {
    return here == end && std::all_of(children.begin(), children.begin() + std::ptrdiff_t(at_once),
                                      [this](const Child& child) { return child.started == end; });
  }
  [[nodiscard]] bool is_abort_word(std::uint64_t nth) const { return stopped && nth + 1 == end; }
};

// The segment in slot `slot` of a window whose oldest segment is `oldest`: segment n is in slot n
// modulo the window.
inline std::uint64_t segment_in_slot(std::uint64_t oldest, std::uint64_t slot,
                                     std::uint64_t window) {
  return oldest + (slot + window - oldest % window) % window;
}

}  // namespace espalier::runtime
