#include "runtime/memory/scratch_windows.hpp"

#include <new>

namespace espalier::runtime {
namespace {

constexpr std::uint64_t kCacheLine = 64;

}  // namespace

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
