// Room for the segments of children that are received ahead and cannot come where they are
// combined.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace espalier::runtime {

// How an element lies in memory.
struct ElementShape {
  std::size_t bytes;   // of data
  MPI_Aint extent;     // from one element to the next; greater than 0
  MPI_Aint true_low;   // from an element's address to its first byte
  MPI_Aint true_span;  // from its first byte to its last one, that one included

  // Of so many elements, at least one. UINT64_MAX where that exceeds the address space.
  [[nodiscard]] std::uint64_t span_of(std::uint64_t elements) const;
};
ElementShape element_shape_of(MPI_Datatype type);

// A ring of segments for each child of each tree.
class ScratchWindows {
 public:
  // rings[tree][child]: segments that its ring has room for; 0: it has none.
  using Rings = std::vector<std::vector<std::uint64_t>>;

  // Makes room, unless there is enough, for segments of up to `elements` elements; what was in it
  // is lost. Throws std::bad_alloc.
  void reserve(const Rings& rings, const ElementShape& shape, std::uint64_t elements);
  // The address, as MPI takes it, of the elements of segment `nth`.
  void* buffer_for(std::size_t tree, std::size_t child, std::uint64_t nth);

 private:
  struct Ring {
    std::uint64_t first;  // slot
    std::uint64_t slots;
  };
  std::vector<std::vector<Ring>> rings_;
  std::uint64_t slot_bytes_ = 0;
  MPI_Aint true_low_ = 0;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<std::byte[]> room_;
};

}  // namespace espalier::runtime
