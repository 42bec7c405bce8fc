// Elements in memory, as MPI's functions take them, and what is wrong with them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace espalier::preload {

struct Elements {
  void* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// What a call only reads.
inline Elements elements(const void* address, MPI_Count count, MPI_Datatype type) {
  return {const_cast<void*>(address), count, type};
}

// A number for each rank in the program's memory: ints, or, of functions with large counts,
// MPI_Count or MPI_Aint. Not owned.
class PerRank {
 public:
  PerRank() = default;
  PerRank(const int* values) : values_(values) {}
  template <class Large>
  requires(sizeof(Large) == sizeof(std::int64_t)) PerRank(const Large* values)
      : values_(values), are_large_(true) {}

  [[nodiscard]] bool is_given() const { return values_ != nullptr; }
  // Precondition: is_given().
  std::int64_t operator[](std::size_t rank) const {
    if (!are_large_) return static_cast<const int*>(values_)[rank];
    std::int64_t value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(values_) + rank * sizeof value, sizeof value);
    return value;
  }

 private:
  const void* values_ = nullptr;
  bool are_large_ = false;
};

// Whether there is no memory. MPI_BOTTOM, which is null, is valid for types with absolute
// addresses.
bool is_missing(const void* buffer, MPI_Datatype type);
// Whether MPI would refuse them.
bool is_wrong(const Elements& elements);
// Throws MpiError.
std::size_t bytes_of(const Elements& elements);
// Throws InputError unless there are so many bytes of them.
void require_bytes(const Elements& elements, std::size_t bytes);
// Whether it is this process's rank. False for a communicator that MPI refuses.
bool is_rank(int rank, MPI_Comm comm);

}  // namespace espalier::preload
