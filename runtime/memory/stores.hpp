// Stores of segments in memory.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/segments.hpp"
#include "support/pinned.hpp"

namespace espalier::runtime {

using engine::Segment;
using engine::SegmentGrid;
using engine::SegmentStore;

// A message whose bytes are contiguous in memory, in the order of sending: nothing is copied.
class MemoryStore : public SegmentStore {
 public:
  explicit MemoryStore(std::byte* message) : message_(message) {}
  std::byte* buffer_for(const Segment& segment) override { return message_ + segment.offset; }

 private:
  std::byte* message_;
};

// `type` shifted by `bytes`, with the same extent.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class MovedType : public Pinned {
 public:
  // Throws MpiError.
  MovedType(MPI_Datatype type, MPI_Aint bytes);
  ~MovedType() { MPI_Type_free(&type_); }
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// Copies elements with holes, or in a different order than in memory, to and from packed bytes.
class ElementPacker {
 public:
  // Throws InputError for a type whose elements MPI_Pack cannot address (over 2 GiB), MpiError.
  ElementPacker(MPI_Comm comm, void* buffer, MPI_Datatype type, std::size_t element_bytes);
  // `count` elements from element `first` of the buffer on, to or from `bytes`. Throws MpiError.
  void pack(std::size_t first, std::size_t count, std::byte* bytes) const;
  void unpack(std::size_t first, std::size_t count, std::byte* bytes) const;

 private:
  // act(address, elements, bytes, size) for pieces whose sizes fit an int.
  template <class Act>
  void in_pieces(std::size_t first, std::size_t count, std::byte* bytes, const Act& act) const;

  MPI_Comm comm_;
  void* buffer_;
  MPI_Datatype type_;
  std::optional<MovedType> moved_type_;  // for MPI_BOTTOM, which MPICH's MPI_Pack does not accept
  std::size_t element_bytes_;
  MPI_Aint extent_;
};

// Elements with holes, or in a different order than in memory, which are sent packed. Costs a copy
// of the message: segments need not be whole elements, and ranks may describe the same message by
// different types, so a segment may begin and end anywhere in an element. The source packs just
// before the segments are sent; the other ranks unpack the part that has arrived completely.
class PackedStore : public SegmentStore {
 public:
  // Throws as ElementPacker, std::bad_alloc.
  PackedStore(MPI_Comm comm, void* buffer, std::size_t count, MPI_Datatype type,
              std::size_t element_bytes, SegmentGrid grid);
  std::byte* buffer_for(const Segment& segment) override { return packed_.get() + segment.offset; }
  void load(const Segment& segment) override;
  void arrived(const Segment& segment) override;

 private:
  ElementPacker packer_;
  std::size_t element_bytes_;
  SegmentGrid grid_;
  std::unique_ptr<std::byte[]> packed_;
  std::size_t done_ = 0;              // elements packed or unpacked
  std::vector<bool> has_arrived_;     // by segment
  std::uint64_t arrived_prefix_ = 0;  // segments
};

}  // namespace espalier::runtime
