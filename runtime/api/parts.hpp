// How a message is divided among the blocks of a plan, and the operations whose message has a part
// for each rank: allgather and reduce-scatter.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/block.hpp"
#include "engine/plan_blocks.hpp"
#include "runtime/api/bound_plan.hpp"
#include "runtime/memory/element_shape.hpp"
#include "runtime/memory/stores.hpp"

namespace espalier::runtime {

// The parts of a message, one for each rank of the communicator, in elements.
struct Parts {
  std::span<const std::size_t> counts;
  std::span<const std::size_t> first;  // where each begins in the buffer of all parts

  [[nodiscard]] std::size_t total() const;
  // Equal where the counts are; not 0.
  [[nodiscard]] std::uint64_t kind() const;
};

using engine::divided;
using engine::one_after_another;

// The reason why so many ranks cannot have such parts in memory; empty if they can.
std::string parts_fault(const Parts& parts, std::size_t ranks, const ElementShape& shape);
// The same, or why they cannot be those of the ranks of a plan whose every root has a part.
std::string parts_fault(const Parts& parts, const BoundPlan& bound, const ElementShape& shape);

// Of each block of the plan: the part of the rank that is its root. unit: of the grid, in elements'
// bytes (1: the grid is in elements).
std::vector<engine::Range> ranges_of(const BoundPlan& bound, const Parts& parts,
                                     std::uint64_t element_units, std::uint64_t segment_units);

// A copy of parts whose beginnings are given, or that follow one another.
class PlacedParts {
 public:
  explicit PlacedParts(const Parts& given);
  // Refers to this object's memory, which stays where it is when it is moved.
  [[nodiscard]] Parts parts() const { return {counts_, first_}; }

 private:
  std::vector<std::size_t> counts_;
  std::vector<std::size_t> first_;
};

// Parts as consecutive bytes: in the user's buffer, or packed beside it if elements have holes.
class PartsInMemory {
 public:
  // is_copied: packed in any case. Refers to the lists of `parts`. Throws InputError, MpiError,
  // std::bad_alloc.
  PartsInMemory(MPI_Comm comm, void* buffer, const Parts& parts, MPI_Datatype type,
                const ElementShape& shape, bool is_copied = false);

  [[nodiscard]] std::byte* bytes() const { return bytes_; }
  // Where each part begins in `bytes`, in elements.
  [[nodiscard]] std::span<const std::size_t> first() const {
    return packer_ ? dense_ : parts_.first;
  }
  [[nodiscard]] std::uint64_t offset(std::size_t rank) const {
    return first()[rank] * element_bytes_;
  }
  // What these three do with packed bytes needs nothing where there are none. They throw MpiError.
  void pack(std::size_t rank) const;
  void pack_all() const;
  // but: a rank whose part is not here.
  void unpack_all(std::optional<std::size_t> but) const;
  // Copies a rank's part from another buffer, where it is alone, to its place in both.
  void take(std::size_t rank, void* from) const;

 private:
  MPI_Comm comm_;
  MPI_Datatype type_;
  ElementShape shape_;
  Parts parts_;
  std::size_t element_bytes_;
  std::byte* bytes_;
  std::vector<std::size_t> dense_;       // where packed parts begin
  std::optional<ElementPacker> packer_;  // unset: nothing is packed
  std::unique_ptr<std::byte[]> packed_;
};

}  // namespace espalier::runtime
