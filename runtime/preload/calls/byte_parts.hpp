// Parts of ranks as bytes, for calls in which ranks describe parts by types of their own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/preload/calls/elements.hpp"
#include "runtime/topology/alltoall_by_leaders.hpp"

namespace espalier::preload {

// As MPI's functions with a count for each rank take them.
struct Parts {
  void* address = nullptr;
  std::size_t ranks = 0;
  PerRank counts{};  // in elements, not negative
  PerRank first{};   // where each begins, in extents; maybe negative. Not given: at 0
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// The bytes of each part. Throws MpiError.
std::vector<std::size_t> bytes_of_parts(const Parts& parts);

// The bytes of parts: where they are, or in a packed copy where elements have holes.
class ByteParts {
 public:
  enum class Contents : std::uint8_t { kData, kNone };
  // contents: kData if the parts are to be sent. Throws MpiError.
  ByteParts(MPI_Comm comm, const Parts& parts, Contents contents);

  [[nodiscard]] void* address() const { return address_; }
  [[nodiscard]] std::span<const std::size_t> counts() const { return counts_; }
  [[nodiscard]] std::span<const std::size_t> first() const { return first_; }
  // The parts have been received: they are copied to their places if they are in a packed copy.
  void store();

 private:
  // act(element, elements, bytes): for each part that is not empty.
  template <class Act>
  void each(const Act& act) const;

  MPI_Comm comm_;
  Parts parts_;
  std::vector<std::size_t> counts_;
  std::vector<std::size_t> first_;  // empty: they follow one another
  std::unique_ptr<std::byte[]> packed_;
  void* address_ = nullptr;
};

// An alltoall by leaders. sent: unset for what is in the memory that receives (MPI_IN_PLACE).
// Throws MpiError.
void exchange_by_leaders(MPI_Comm comm, const runtime::AlltoallByLeaders& leaders,
                         const std::optional<Parts>& sent, const Parts& received);

}  // namespace espalier::preload
