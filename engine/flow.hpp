// The state of one tree on a rank during one message, and the rules of what may begin, as functions
// of its counters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier::engine {

// Counters of the tree's segments. A segment waits, is received on every in-edge, combined where
// there is something to combine, is ready, is sent on every out-edge, and its buffer is free.
struct Flow {
  struct In {
    std::uint64_t posted = 0;  // receives begun
    std::uint64_t here = 0;    // arrived; at most `posted`
  };
  struct Out {
    std::uint64_t started = 0;  // sends begun; at most `ready`
    std::uint64_t sent = 0;     // complete; at most `started`
    double due_s = 0;           // by the transport's clock: earliest start of the next send
  };
  std::uint64_t end = 0;     // total, including an empty message that ends the flow early
  std::uint64_t ready = 0;   // may be sent: loaded, arrived, or combined with all in-edges'
  std::size_t combined = 0;  // in-edges whose part of segment `ready` is included
  std::uint64_t kept = 0;    // at most `ready`: reported to the store
  std::uint64_t freed = 0;   // at most `kept`: sent on all out-edges
  // At least freed: sent on all out-edges except exchange edges, which wait for the whole share.
  std::uint64_t passed_on = 0;
  std::size_t at_once = 0;  // number of out-edges that do not wait; those after them do
  bool stopped = false;     // the last of `end` is the empty message
  std::vector<In> in;
  std::vector<Out> out;

  [[nodiscard]] bool is_done() const { return freed == end; }
  // Whether the sends on exchange edges may begin.
  [[nodiscard]] bool is_passed_on() const {
    return ready == end && std::all_of(out.begin(), out.begin() + std::ptrdiff_t(at_once),
                                       [this](const Out& edge) { return edge.started == end; });
  }
  // The number of segments that may have been sent on an out-edge by now.
  [[nodiscard]] std::uint64_t sendable(std::size_t edge) const {
    return edge < at_once || is_passed_on() ? ready : 0;
  }
  // The number of segments of an in-edge whose buffers may be reused. is_sent_from: segments are
  // sent from these buffers.
  [[nodiscard]] std::uint64_t reusable(std::size_t edge, bool is_sent_from) const {
    return is_sent_from ? freed : ready + (combined > edge ? 1 : 0);
  }
  [[nodiscard]] bool is_abort_marker(std::uint64_t nth) const { return stopped && nth + 1 == end; }
};

// Whether a receive may be posted as far as its window and the buffers go. capacity: the number of
// buffers.
inline bool has_buffer(const Flow::In& in, std::uint64_t window, std::uint64_t reusable,
                       std::uint64_t capacity) {
  return in.posted - in.here < window && in.posted - reusable < capacity;
}

// Whether a send may begin as far as its window goes, when `sendable` segments may have been sent.
inline bool has_segment(const Flow::Out& out, std::uint64_t window, std::uint64_t sendable) {
  return out.started < sendable && out.started - out.sent < window;
}

// Whether segment `index` of the message has to wait for the oldest unfinished one.
inline bool is_beyond(std::uint64_t index, std::uint64_t oldest, std::uint64_t lookahead) {
  return index - std::min(index, oldest) >= lookahead;
}

}  // namespace espalier::engine
