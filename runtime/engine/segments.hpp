// A message divided into segments, and the store that holds their bytes, as the engine sees them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan/segment_grid.hpp"

namespace espalier::runtime {

using planner::SegmentGrid;

// One segment and its position.
struct Segment {
  std::uint64_t index;   // in the message
  std::size_t tree;      // the tree that carries it
  std::uint64_t nth;     // its number in that tree, from 0
  std::uint64_t offset;  // of its first byte in the message
  std::size_t bytes;
};

// Holds the bytes of segments on a rank: in the user's buffer, or in a window onto a file.
class SegmentStore {
 public:
  SegmentStore() = default;
  SegmentStore(const SegmentStore&) = delete;
  SegmentStore& operator=(const SegmentStore&) = delete;
  SegmentStore(SegmentStore&&) = delete;
  SegmentStore& operator=(SegmentStore&&) = delete;
  virtual ~SegmentStore() = default;

  // How many segments of each tree it can hold at a time: segment n + this reuses the buffer of
  // segment n.
  [[nodiscard]] virtual std::uint64_t segments_per_tree() const { return UINT64_MAX; }
  // The buffer of a segment; may be called any number of times.
  virtual std::byte* buffer_for(const Segment& segment) = 0;
  // Whether the segment can be loaded now (called on the source only, in the order of the message).
  [[nodiscard]] virtual bool is_ready(const Segment& /*segment*/) const { return true; }
  // Whether the segment's buffer may be received into now (not called on the source).
  [[nodiscard]] virtual bool is_free(const Segment& /*segment*/) const { return true; }
  // For stores whose segments become ready or free through messages of their own: while has_work(),
  // the engine calls work() repeatedly instead of waiting.
  [[nodiscard]] virtual bool has_work() const { return false; }
  virtual void work() {}
  // Loads the segment's bytes into its buffer (called on the source only, once per segment, in the
  // order of the message).
  virtual void load(const Segment& /*segment*/) {}
  // The segment has arrived (not called on the source). The segments of a tree arrive in order.
  virtual void arrived(const Segment& /*segment*/) {}
  // The store could not read or write a segment, and the broadcast must stop. It accepts further
  // segments and discards them.
  [[nodiscard]] virtual bool failed() const { return false; }
};

}  // namespace espalier::runtime
