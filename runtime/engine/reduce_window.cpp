#include "runtime/engine/reduce_window.hpp"

#include <new>

#include "runtime/memory/stores.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

constexpr std::uint64_t kCacheLine = 64;

}  // namespace

std::uint64_t ElementShape::span_of(std::uint64_t elements) const {
  std::uint64_t span = 0;
  if (__builtin_mul_overflow(elements - 1, static_cast<std::uint64_t>(extent), &span) ||
      __builtin_add_overflow(span, static_cast<std::uint64_t>(true_span), &span)) {
    return UINT64_MAX;
  }
  return span;
}

ElementShape element_shape_of(MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Count true_low = 0;
  MPI_Count true_span = 0;
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  check(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
  check(MPI_Type_get_extent(type, &low, &extent), "MPI_Type_get_extent");
  check(MPI_Type_get_true_extent_x(type, &true_low, &true_span), "MPI_Type_get_true_extent_x");
  return {static_cast<std::size_t>(size), extent, static_cast<MPI_Aint>(true_low),
          static_cast<MPI_Aint>(true_span)};
}

void ScratchWindows::reserve(const Rings& rings, const ElementShape& shape,
                             std::uint64_t elements) {
  rings_.clear();
  std::uint64_t slots = 0;
  for (const auto& of_tree : rings) {
    auto& mine = rings_.emplace_back();
    for (const std::uint64_t ring : of_tree) {
      mine.push_back({slots, ring});
      slots += ring;
    }
  }
  const std::uint64_t span = shape.span_of(elements);
  if (span > UINT64_MAX - kCacheLine) throw std::bad_alloc();
  slot_bytes_ = (span + kCacheLine - 1) / kCacheLine * kCacheLine;
  true_low_ = shape.true_low;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(slots, slot_bytes_, &bytes)) throw std::bad_alloc();
  if (bytes <= bytes_) return;
  bytes_ = 0;
  buffer_.reset();
  buffer_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  bytes_ = bytes;
}

void* ScratchWindows::buffer_for(std::size_t tree, std::size_t child, std::uint64_t nth) {
  const auto [first, slots] = rings_[tree][child];
  return moved(&buffer_[(first + nth % slots) * slot_bytes_], -true_low_);
}

}  // namespace espalier::runtime
