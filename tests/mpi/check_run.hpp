// Runs broadcasts and checks the received messages.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/segments.hpp"
#include "runtime/api/broadcast.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing {

inline constexpr std::byte kPoison{0xA5};
inline constexpr std::size_t kGuard = 64;

// Broadcasts message number `message` of `bytes` bytes. Checks every byte, and that the memory
// around the buffer is unchanged. Broadcast: runtime::Broadcast, or another class with the same
// run() and root().
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

// A store with a buffer for the agreed number of segments. It generates the message on the source
// and checks it on the other ranks.
class TestStore : public engine::SegmentStore {
 public:
  TestStore(const runtime::Broadcast::StreamShape& shape, std::uint64_t message)
      : shape_(shape),
        message_(message),
        buffer_(shape.segment_bytes * shape.segments_per_tree * shape.trees),
        next_(shape.trees, 0) {}

  [[nodiscard]] std::uint64_t segments_per_tree() const override {
    return shape_.segments_per_tree;
  }
  std::byte* buffer_for(const engine::Segment& segment) override {
    const std::uint64_t slot = segment.nth % shape_.segments_per_tree;
    return &buffer_[(segment.tree * shape_.segments_per_tree + slot) * shape_.segment_bytes];
  }
  void load(const engine::Segment& segment) override {
    if (++loads_ == fails_at) failed_ = true;
    EXPECT_EQ(segment.index, loads_ - 1) << "out of order";
    std::byte* const at = buffer_for(segment);
    for (std::size_t i = 0; i < segment.length; ++i) at[i] = byte_of(segment.offset + i, message_);
  }
  void arrived(const engine::Segment& segment) override {
    EXPECT_EQ(segment.nth, next_[segment.tree]++) << "out of order in tree " << segment.tree;
    bytes_ += segment.length;
    const std::byte* const at = buffer_for(segment);
    for (std::size_t i = 0; i < segment.length; ++i) {
      if (at[i] != byte_of(segment.offset + i, message_)) ++wrong_;
    }
    if (++arrivals_ == fails_at) failed_ = true;
  }
  [[nodiscard]] bool failed() const override { return failed_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

  std::uint64_t fails_at = 0;  // the number of the segment that fails, from 1; 0: none

 private:
  runtime::Broadcast::StreamShape shape_;
  std::uint64_t message_;
  std::vector<std::byte> buffer_;
  std::vector<std::uint64_t> next_;
  std::uint64_t loads_ = 0;
  std::uint64_t arrivals_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t wrong_ = 0;
  bool failed_ = false;
};

}  // namespace espalier::testing
