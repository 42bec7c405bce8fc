// A message cut into segments, and where their bytes are: what the engine that moves them needs to
// know of a message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan/segment_grid.hpp"

namespace espalier::runtime {

using planner::SegmentGrid;

// One segment and its place.
struct Segment {
  std::uint64_t index;   // in the message
  std::size_t tree;      // that carries it
  std::uint64_t nth;     // of that tree's segments, from 0
  std::uint64_t offset;  // of its first byte in the message
  std::size_t bytes;
};

// Where the bytes of segments are while they pass a rank: in the user's buffer, in a window onto a
// file.
class SegmentStore {
 public:
  SegmentStore() = default;
  SegmentStore(const SegmentStore&) = delete;
  SegmentStore& operator=(const SegmentStore&) = delete;
  SegmentStore(SegmentStore&&) = delete;
  SegmentStore& operator=(SegmentStore&&) = delete;
  virtual ~SegmentStore() = default;

  // Of each tree, how many segments it can hold at a time: segment n's room is used again by
  // segment n + this.
  [[nodiscard]] virtual std::uint64_t segments_per_tree() const { return UINT64_MAX; }
  // Room for a segment; asked for as often as is handy.
  virtual std::byte* buffer_for(const Segment& segment) = 0;
  // Whether the segment can be loaded by now (asked on the source only, in the order of the
  // message).
  [[nodiscard]] virtual bool is_ready(const Segment& /*segment*/) const { return true; }
  // Whether the segment's room may be received into by now (not asked on the source).
  [[nodiscard]] virtual bool is_free(const Segment& /*segment*/) const { return true; }
  // For segments that become ready, or free, by messages of the store's own: as long as it has
  // work, the engine lets it go on with that again and again, instead of waiting.
  [[nodiscard]] virtual bool has_work() const { return false; }
  virtual void work() {}
  // Brings the segment's bytes into its room (called on the source only, once per segment, in the
  // order of the message).
  virtual void load(const Segment& /*segment*/) {}
  // The segment has arrived (not called on the source). The segments of one tree come in their
  // order.
  virtual void arrived(const Segment& /*segment*/) {}
  // It could not read or keep a segment, and the broadcast is to stop. It then takes further
  // segments and drops them.
  [[nodiscard]] virtual bool failed() const { return false; }
};

}  // namespace espalier::runtime
