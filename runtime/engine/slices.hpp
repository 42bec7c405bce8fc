// A message cut into slices, and where their bytes are: what the engine that moves them needs to
// know of a message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan/slice_grid.hpp"

namespace espalier::runtime {

using planner::SliceGrid;

// One slice and its place.
struct Slice {
  std::uint64_t index;   // in the message
  std::size_t tree;      // that carries it
  std::uint64_t nth;     // of that tree's slices, from 0
  std::uint64_t offset;  // of its first byte in the message
  std::size_t bytes;
};

// Where the bytes of slices are while they pass a rank: in the user's buffer, in a window onto a
// file.
class SliceStore {
 public:
  SliceStore() = default;
  SliceStore(const SliceStore&) = delete;
  SliceStore& operator=(const SliceStore&) = delete;
  SliceStore(SliceStore&&) = delete;
  SliceStore& operator=(SliceStore&&) = delete;
  virtual ~SliceStore() = default;

  // Of each tree, how many slices it can hold at a time: slice n's room is used again by slice n +
  // this.
  [[nodiscard]] virtual std::uint64_t slices_per_tree() const { return UINT64_MAX; }
  // Room for a slice; asked for as often as is handy.
  virtual std::byte* room_for(const Slice& slice) = 0;
  // Whether the slice can be loaded by now (asked on the source only, in the order of the message).
  [[nodiscard]] virtual bool is_ready(const Slice& /*slice*/) const { return true; }
  // Whether the slice's room may be received into by now (not asked on the source).
  [[nodiscard]] virtual bool is_free(const Slice& /*slice*/) const { return true; }
  // For slices that become ready, or free, by messages of the store's own: as long as it has work,
  // the engine lets it go on with that again and again, instead of waiting.
  [[nodiscard]] virtual bool has_work() const { return false; }
  virtual void work() {}
  // Brings the slice's bytes into its room (called on the source only, once per slice, in the order
  // of the message).
  virtual void load(const Slice& /*slice*/) {}
  // The slice has arrived (not called on the source). The slices of one tree come in their order.
  virtual void arrived(const Slice& /*slice*/) {}
  // It could not read or keep a slice, and the broadcast is to stop. It then takes further slices
  // and drops them.
  [[nodiscard]] virtual bool failed() const { return false; }
};

}  // namespace espalier::runtime
