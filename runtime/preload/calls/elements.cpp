#include "runtime/preload/calls/elements.hpp"

#include <fmt/format.h>

#include "runtime/memory/element_shape.hpp"
#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::preload {

bool is_missing(const void* buffer, MPI_Datatype type) {
  return buffer == nullptr && runtime::is_named(type);
}

bool is_wrong(const Elements& elements) {
  if (elements.count < 0 || elements.type == MPI_DATATYPE_NULL) return true;
  return elements.count > 0 && is_missing(elements.address, elements.type);
}

std::size_t bytes_of(const Elements& elements) {
  return static_cast<std::size_t>(elements.count) * runtime::element_shape_of(elements.type).bytes;
}

void require_bytes(const Elements& elements, std::size_t bytes) {
  if (bytes_of(elements) == bytes) return;
  throw InputError(fmt::format("a part of {}, where MPI's rules require {}",
                               counted(bytes_of(elements), "byte"), bytes));
}

bool is_rank(int rank, MPI_Comm comm) {
  int here = -1;
  return comm != MPI_COMM_NULL && PMPI_Comm_rank(comm, &here) == MPI_SUCCESS && here == rank;
}

}  // namespace espalier::preload
