// The state of one tree on a rank during one message, and the rules of what may begin, as functions
// of its counters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace espalier::engine {

// The edges of a tree, of those in or those out, in which something may have become possible:
// [first, last), and some between.
struct EdgeRange {
  std::uint32_t first = UINT32_MAX;
  std::uint32_t last = 0;

  [[nodiscard]] bool is_empty() const { return first >= last; }
  void add(std::size_t edge) {
    first = std::min(first, static_cast<std::uint32_t>(edge));
    last = std::max(last, static_cast<std::uint32_t>(edge) + 1);
  }
  void add_all(std::size_t edges) {
    first = 0;
    last = static_cast<std::uint32_t>(edges);
  }
};

// Counters of the tree's segments. A segment waits, is received on every in-edge, combined where
// there is something to combine, is ready, is sent on every out-edge, and its buffer is free.
struct Flow {
  struct In {
    std::uint64_t posted = 0;    // receives begun
    std::uint64_t here = 0;      // arrived; at most `posted`
    std::uint64_t capacity = 0;  // buffers
    std::uint64_t window = 0;    // most receives in progress
    bool is_sent_from = false;   // segments are sent from these buffers
  };
  struct Out {
    std::uint64_t started = 0;  // sends begun; at most `ready`
    std::uint64_t sent = 0;     // complete; at most `started`
    std::uint64_t window = 0;   // most sends in progress
    // Every so many sends complete only after their receives were posted; 0: none of them.
    std::uint32_t synchronous_every = 0;
    // Of what is the rank's own: the first sends, which await their turn, and complete likewise.
    std::uint64_t limited = 0;
    bool awaits_turn = false;
    double pace_s = 0;  // least time from the start of a send to that of the next
    double due_s = 0;   // by the transport's clock: earliest start of the next send

    [[nodiscard]] bool is_synchronous(std::uint64_t nth) const {
      return nth < limited || (synchronous_every != 0 && (nth + 1) % synchronous_every == 0);
    }
  };
  std::uint64_t end = 0;    // total, including an empty message that ends the flow early
  std::uint64_t ready = 0;  // may be sent: loaded, arrived, or combined with all in-edges'
  std::uint64_t kept = 0;   // at most `ready`: reported to the store
  std::uint64_t freed = 0;  // at most `kept`: sent on all out-edges
  // At least freed: sent on all out-edges except exchange edges, which wait for the whole share.
  std::uint64_t passed_on = 0;
  std::span<In> in;
  std::span<Out> out;
  EdgeRange to_receive{};  // on which receives may be posted
  EdgeRange to_send{};     // on which sends may begin
  // Of the out-edges that do not wait: the fewest segments sent on any, and on how many edges.
  std::uint64_t least_sent = 0;
  std::uint32_t laggards = 0;
  std::uint32_t combined = 0;  // in-edges whose part of segment `ready` is included
  std::uint32_t at_once = 0;   // number of out-edges that do not wait; those after them do
  std::uint32_t tree = 0;      // its own number
  std::uint32_t part = 0;      // the block that the tree is of, as the engine numbers them
  bool combines = false;
  bool at_root = false;      // this rank is the root of the block
  bool is_follower = false;  // the block comes after another one
  bool is_followed = false;  // a block comes after it
  // Segments leave in the order of all blocks that combine (engine.hpp): otherwise a tree that can
  // exceed its rate would take bandwidth from those of other roots.
  bool sends_in_order = false;
  bool is_touched = false;  // something may have become possible
  bool stopped = false;     // the last of `end` is the empty message

  [[nodiscard]] bool is_done() const { return freed == end; }
  void touch_all_edges() {
    to_receive.add_all(in.size());
    to_send.add_all(out.size());
  }
  // So many segments are ready now.
  void set_ready(std::uint64_t segments) {
    ready = segments;
    to_send.add_all(out.size());
  }
  // On an out-edge as many segments are sent as `sent`, where it were `before`.
  void note_sent(std::size_t edge, std::uint64_t before, std::uint64_t sent) {
    to_send.add(edge);
    if (edge >= at_once || before != least_sent || sent == before || --laggards > 0) return;
    count_laggards();
  }
  void count_laggards() {
    least_sent = UINT64_MAX;
    for (const Out& edge : out.first(at_once)) {
      if (edge.sent < least_sent) laggards = 0;
      least_sent = std::min(least_sent, edge.sent);
      if (edge.sent == least_sent) ++laggards;
    }
  }
  // Whether segments without in-edges come from the store.
  [[nodiscard]] bool loads() const { return at_root && !combines; }
  // Whether the sends on exchange edges may begin.
  [[nodiscard]] bool is_passed_on() const {
    return ready == end && std::ranges::all_of(out.first(at_once), [this](const Out& edge) {
             return edge.started == end;
           });
  }
  // The number of segments that may have been sent on an out-edge by now.
  [[nodiscard]] std::uint64_t sendable(std::size_t edge) const {
    return edge < at_once || is_passed_on() ? ready : 0;
  }
  // The number of segments of an in-edge whose buffers may be reused.
  [[nodiscard]] std::uint64_t reusable(std::size_t edge) const {
    return in[edge].is_sent_from ? freed : ready + (combined > edge ? 1 : 0);
  }
  [[nodiscard]] bool is_abort_marker(std::uint64_t nth) const { return stopped && nth + 1 == end; }
};

// Whether a receive may be posted as far as its window and the buffers go, of which those of
// `reusable` segments are free.
inline bool has_buffer(const Flow::In& in, std::uint64_t reusable) {
  return in.posted - in.here < in.window && in.posted - reusable < in.capacity;
}

// Whether a send may begin as far as its window goes, when `sendable` segments may have been sent.
inline bool has_segment(const Flow::Out& out, std::uint64_t sendable) {
  return out.started < sendable && out.started - out.sent < out.window;
}

// Whether segment `index` of the message has to wait for the oldest unfinished one.
inline bool is_beyond(std::uint64_t index, std::uint64_t oldest, std::uint64_t lookahead) {
  return index - std::min(index, oldest) >= lookahead;
}

}  // namespace espalier::engine
