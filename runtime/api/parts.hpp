// How a message is divided among the blocks of a plan, and the operations whose message has a part
// for each rank: allgather and reduce-scatter.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/block.hpp"
#include "runtime/api/bound_plan.hpp"
#include "runtime/memory/element_shape.hpp"

namespace espalier::runtime {

// The parts of a message, one for each rank of the communicator, in elements.
struct Parts {
  std::span<const std::size_t> counts;
  std::span<const std::size_t> first;  // where each begins in the buffer of all parts

  [[nodiscard]] std::size_t total() const;
  // Equal where the counts are; not 0.
  [[nodiscard]] std::uint64_t kind() const;
};

// The number of units for each share of so many, rounded so that they sum up to all; 0 for a share
// of 0. shares: sum 1.
std::vector<std::size_t> divided(std::uint64_t units, std::span<const double> shares);

// Where each part begins if they follow one another.
std::vector<std::size_t> one_after_another(std::span<const std::size_t> counts);

// The reason why so many ranks cannot have such parts in memory; empty if they can.
std::string parts_fault(const Parts& parts, std::size_t ranks, const ElementShape& shape);
// The same, or why they cannot be those of the ranks of a plan whose every root has a part.
std::string parts_fault(const Parts& parts, const BoundPlan& bound, const ElementShape& shape);

// Of each block of the plan: the part of the rank that is its root. unit: of the grid, in elements'
// bytes (1: the grid is in elements).
std::vector<engine::Range> ranges_of(const BoundPlan& bound, const Parts& parts,
                                     std::uint64_t element_units, std::uint64_t segment_units);

// Of each block of a plan for a message that is the same on all ranks: its share of the grid.
std::vector<engine::Range> ranges_of(const BoundPlan& bound, const engine::SegmentGrid& grid);

// An allgather's parts in memory: in the user's buffer, or packed beside it if elements have holes.
class GatheredParts {
 public:
  // Puts this rank's own part in its place. sendbuf: MPI_IN_PLACE if it is there. Throws
  // InputError, MpiError, std::bad_alloc.
  GatheredParts(MPI_Comm comm, const void* sendbuf, void* recvbuf, const Parts& parts, int rank,
                MPI_Datatype type, const ElementShape& shape);
  // Where byte 0 of the parts lies, and where each part begins, in elements.
  [[nodiscard]] std::byte* bytes() const { return bytes_; }
  [[nodiscard]] std::span<const std::size_t> first() const { return first_; }
  // Brings what has arrived to the user's buffer. Throws MpiError.
  void unpack() const;

 private:
  MPI_Comm comm_;
  void* recvbuf_;
  Parts parts_;
  int rank_;
  MPI_Datatype type_;
  std::size_t element_bytes_;
  std::byte* bytes_ = nullptr;
  std::vector<std::size_t> first_;
  std::unique_ptr<std::byte[]> packed_;  // null: nothing is packed
};

}  // namespace espalier::runtime
