// How the elements of an MPI datatype lie in memory.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace espalier::runtime {

struct ElementShape {
  std::size_t bytes;   // of data
  MPI_Aint extent;     // from one element to the next
  MPI_Aint true_low;   // from an element's address to its first byte
  MPI_Aint true_span;  // from its first byte to its last, inclusive

  // The span of `elements` elements, at least one. UINT64_MAX if it exceeds the address space.
  // Precondition: extent is greater than 0.
  [[nodiscard]] std::uint64_t span_of(std::uint64_t elements) const;
};
// The functions here throw MpiError.
ElementShape element_shape_of(MPI_Datatype type);

// Whether any number of elements are consecutive bytes, in the order in which MPI sends them.
bool is_plain(MPI_Comm comm, MPI_Datatype type);
// Whether the type is predefined.
bool is_named(MPI_Datatype type);

// `address` + `by` bytes. MPI's displacements may be absolute addresses (MPI_BOTTOM), for which C++
// pointer arithmetic is undefined.
void* moved(void* address, MPI_Aint by);

// Moves `count` elements within memory, with everything between them; the ranges may overlap.
void move_elements(void* from, void* to, std::size_t count, const ElementShape& shape);

}  // namespace espalier::runtime
