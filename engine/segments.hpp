// A message divided into segments, and the store that holds their bytes, as the engine sees them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan/segment_grid.hpp"
#include "support/pinned.hpp"

namespace espalier::engine {

using planner::SegmentGrid;

// One segment and its position. Offset and length are in bytes; where segments are combined, in
// elements.
struct Segment {
  std::uint64_t index;   // in its block
  std::size_t tree;      // the tree that carries it, counted over all blocks
  std::uint64_t nth;     // its number in that tree, from 0
  std::uint64_t offset;  // of its beginning in the message
  std::size_t length;
};

// Holds the bytes of segments on a rank: in the user's buffer, or in a window onto a file. An
// in-edge `in` is given by its index in the rank's role in the segment's tree.
class SegmentStore : public Interface {
 public:
  // How many segments of each tree it can hold at a time: segment n + this reuses the buffer of
  // segment n.
  [[nodiscard]] virtual std::uint64_t segments_per_tree() const { return UINT64_MAX; }
  // The buffer of a segment; may be called any number of times. Segments are sent from it.
  virtual std::byte* buffer_for(const Segment& segment) = 0;
  // Loads the segment's bytes into its buffer (called on the root of a block that copies, once per
  // segment, in order; not for a block after another one).
  virtual void load(const Segment& /*segment*/) {}
  // The segment has arrived, to be copied (not called on the root). The segments of a tree arrive
  // in order.
  virtual void arrived(const Segment& /*segment*/) {}
  // The store could not read or write a segment, and the message must stop. It accepts further
  // segments and discards them.
  [[nodiscard]] virtual bool failed() const { return false; }

  // How many segments of in-edge `in` of a tree it can hold at a time. Of a tree that copies, it
  // has one in-edge; a rank that only forwards what it routes holds few.
  [[nodiscard]] virtual std::uint64_t capacity(std::size_t /*tree*/, std::size_t /*in*/) const {
    return segments_per_tree();
  }

  // --- only for trees that combine ---
  // Where the segment of in-edge `in` is received.
  virtual std::byte* arrival_buffer_for(const Segment& segment, std::size_t /*in*/) {
    return buffer_for(segment);
  }
  // Whether segments are sent from where they are received on in-edge `in` of a tree.
  [[nodiscard]] virtual bool sends_from(std::size_t /*tree*/, std::size_t in) const {
    return in == 0;
  }
  // Adds what arrived on in-edge `in` to the segment. Called in the order of the in-edges for each
  // segment, and in the order of the tree's segments.
  virtual void combine(const Segment& /*segment*/, std::size_t /*in*/) {}
};

}  // namespace espalier::engine
