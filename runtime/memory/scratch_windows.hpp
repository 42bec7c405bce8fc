// Buffers for the children's segments that are received ahead and not where they are combined.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/memory/element_shape.hpp"

namespace espalier::runtime {

// A ring of segments for each child of each tree.
class ScratchWindows {
 public:
  // rings[tree][child]: capacity of the child's ring in segments; 0: no ring.
  using Rings = std::vector<std::vector<std::uint64_t>>;

  // Allocates buffers for segments of up to `elements` elements, unless they are large enough;
  // previous contents are lost. Throws std::bad_alloc.
  void reserve(const Rings& rings, const ElementShape& shape, std::uint64_t elements);
  // The buffer address to pass to MPI for segment `nth`.
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
  std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace espalier::runtime
