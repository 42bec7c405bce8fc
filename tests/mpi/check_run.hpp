// Sending messages and checking what arrives.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "runtime/engine/slices.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing {

inline constexpr std::byte kPoison{0xA5};
inline constexpr std::size_t kGuard = 64;

// Sends message number `message` of `bytes` bytes and checks every byte, and that nothing around
// was touched.
// Broadcast: runtime's, or one that decides how.
template <class Broadcast>
void check_run(Broadcast& broadcast, MPI_Comm comm, std::size_t bytes, std::uint64_t message) {
  std::vector<std::byte> buffer(bytes + 2 * kGuard, kPoison);
  if (rank_in(comm) == broadcast.root()) {
    for (std::size_t i = 0; i < bytes; ++i) buffer[kGuard + i] = byte_of(i, message);
  }
  broadcast.run(buffer.data() + kGuard, bytes, MPI_BYTE);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    const bool inside = i >= kGuard && i < kGuard + bytes;
    if (buffer[i] == (inside ? byte_of(i - kGuard, message) : kPoison)) continue;
    if (wrong++ == 0) ADD_FAILURE() << "byte " << i - kGuard << " of " << bytes << " is wrong";
  }
  EXPECT_EQ(wrong, 0U);
}

// Room for as many slices as agreed; makes the message on the source and checks it elsewhere.
class TestStore : public runtime::SliceStore {
 public:
  TestStore(const runtime::Broadcast::StreamShape& shape, std::uint64_t message)
      : shape_(shape),
        message_(message),
        room_(shape.slice_bytes * shape.slices_per_tree * shape.trees),
        next_(shape.trees, 0) {}

  [[nodiscard]] std::uint64_t slices_per_tree() const override { return shape_.slices_per_tree; }
  std::byte* room_for(const runtime::Slice& slice) override {
    const std::uint64_t slot = slice.nth % shape_.slices_per_tree;
    return &room_[(slice.tree * shape_.slices_per_tree + slot) * shape_.slice_bytes];
  }
  void load(const runtime::Slice& slice) override {
    if (++loads_ == fails_at) failed_ = true;
    EXPECT_EQ(slice.index, loads_ - 1) << "out of order";
    std::byte* const at = room_for(slice);
    for (std::size_t i = 0; i < slice.bytes; ++i) at[i] = byte_of(slice.offset + i, message_);
  }
  void arrived(const runtime::Slice& slice) override {
    EXPECT_EQ(slice.nth, next_[slice.tree]++) << "out of order in tree " << slice.tree;
    bytes_ += slice.bytes;
    const std::byte* const at = room_for(slice);
    for (std::size_t i = 0; i < slice.bytes; ++i) {
      if (at[i] != byte_of(slice.offset + i, message_)) ++wrong_;
    }
    if (++arrivals_ == fails_at) failed_ = true;
  }
  [[nodiscard]] bool failed() const override { return failed_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

  std::uint64_t fails_at = 0;  // the how manieth slice fails; 0: none

 private:
  runtime::Broadcast::StreamShape shape_;
  std::uint64_t message_;
  std::vector<std::byte> room_;
  std::vector<std::uint64_t> next_;
  std::uint64_t loads_ = 0;
  std::uint64_t arrivals_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t wrong_ = 0;
  bool failed_ = false;
};

}  // namespace espalier::testing
