// The store of a reduction: a rank's own elements, the result, and scratch windows for what arrives
// elsewhere.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/segments.hpp"
#include "engine/tree_role.hpp"
#include "engine/windows.hpp"
#include "runtime/memory/element_shape.hpp"
#include "runtime/memory/scratch_windows.hpp"

namespace espalier::runtime {

// One message to be reduced.
struct ReductionJob {
  ElementShape shape;
  MPI_Datatype type;
  MPI_Op op;                 // commutative
  engine::SegmentGrid grid;  // in elements
  void* own;                 // this rank's elements
  void* result;  // where to combine; null: this rank keeps no result. May be equal to own.
  std::vector<bool> keeps{};  // whether the result is for the tree, too; empty: for all trees

  [[nodiscard]] bool keeps_result(std::size_t tree) const {
    return result != nullptr && (keeps.empty() || keeps[tree]);
  }
};

// Where this rank has memory for the result, segments are combined there, and those of the first
// in-edge are received there as well, unless it holds the rank's own elements. Otherwise they are
// combined where the first in-edge's are received, in a scratch window. Trees that copy bring the
// result.
class ReducingStore : public engine::SegmentStore {
 public:
  // roles: this rank's; one that copies needs a result. windows: of the message. ends: the number
  // of segments of each tree. scratch: for this object alone. Throws std::bad_alloc.
  ReducingStore(const ReductionJob& job, std::span<const engine::TreeRole> roles,
                std::span<const engine::TreeWindows> windows, std::span<const std::uint64_t> ends,
                ScratchWindows& scratch);

  std::byte* buffer_for(const engine::Segment& segment) override;
  std::byte* arrival_buffer_for(const engine::Segment& segment, std::size_t in) override;
  [[nodiscard]] std::uint64_t capacity(std::size_t tree, std::size_t in) const override {
    return combines_[tree] ? buffers_[tree][in] : UINT64_MAX;
  }
  [[nodiscard]] bool sends_from(std::size_t tree, std::size_t in) const override {
    return in == 0 && !job_.keeps_result(tree);
  }
  // Throws MpiError.
  void combine(const engine::Segment& segment, std::size_t in) override;

 private:
  // Whether the result is where this rank's own elements are.
  [[nodiscard]] bool is_in_place() const { return job_.result == job_.own; }
  // Segments are combined in the result, and those of the first in-edge are received there.
  [[nodiscard]] bool comes_to_result(std::size_t tree) const {
    return job_.keeps_result(tree) && !is_in_place();
  }
  [[nodiscard]] void* place_in(void* buffer, const engine::Segment& segment) const;

  ReductionJob job_;
  ScratchWindows& scratch_;
  std::vector<bool> combines_;                       // each tree
  std::vector<std::vector<std::uint64_t>> buffers_;  // of each tree that combines, and in-edge
};

}  // namespace espalier::runtime
