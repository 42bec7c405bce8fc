// Stores whose bytes are known, and which notice when segments come in a wrong order or overwrite
// one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "tests/engine/adversary_network.hpp"

namespace espalier::testing::adversary {

// Byte `at` of every message that is copied.
inline std::byte byte_at(std::uint64_t at) {
  return static_cast<std::byte>((at * 131 + 7) % 251);
}

// A message that is copied. On the root it is loaded, elsewhere it is checked as it arrives.
class CopyStore : public engine::SegmentStore {
 public:
  // capacity: in segments per tree; unset: the whole message. fails_after: this many loads or
  // arrivals.
  CopyStore(engine::SegmentGrid grid, std::size_t trees, std::optional<std::uint64_t> capacity,
            std::uint64_t fails_after)
      : grid_(grid), capacity_(capacity), fails_after_(fails_after), arrived_(trees, 0) {
    const std::uint64_t bytes = capacity_ ? trees * *capacity_ * grid.segment : grid.message;
    bytes_.resize(bytes + 1);
  }
  [[nodiscard]] std::uint64_t segments_per_tree() const override {
    return capacity_.value_or(UINT64_MAX);
  }
  std::byte* buffer_for(const engine::Segment& segment) override {
    if (!capacity_) return bytes_.data() + segment.offset;
    return bytes_.data() + (segment.tree * *capacity_ + segment.nth % *capacity_) * grid_.segment;
  }
  void load(const engine::Segment& segment) override {
    if (segment.index != moved_) throw Violation("segments are not loaded in order");
    std::byte* const at = buffer_for(segment);
    for (std::size_t i = 0; i < segment.length; ++i) at[i] = byte_at(segment.offset + i);
    ++moved_;
  }
  void arrived(const engine::Segment& segment) override {
    if (segment.nth != arrived_[segment.tree]++) throw Violation("segments arrive out of order");
    ++moved_;
    const std::byte* const at = buffer_for(segment);
    for (std::size_t i = 0; i < segment.length; ++i) {
      if (at[i] != byte_at(segment.offset + i)) throw Violation("a segment has wrong bytes");
    }
  }
  [[nodiscard]] bool failed() const override { return moved_ >= fails_after_; }
  [[nodiscard]] bool is_complete() const { return moved_ == grid_.count(); }

 private:
  engine::SegmentGrid grid_;
  std::optional<std::uint64_t> capacity_;
  std::uint64_t fails_after_;
  std::vector<std::uint64_t> arrived_;  // of each tree
  std::uint64_t moved_ = 0;
  std::vector<std::byte> bytes_;
};

using Element = std::uint64_t;

// Neither commutative nor associative, so that the sum shows the order of combining.
inline Element combined(Element sum, Element added) {
  return sum * 0x9E3779B97F4A7C15U + (added << 17U | added >> 47U) + 1;
}
inline Element own_element(int rank, std::uint64_t at) {
  return (static_cast<Element>(rank) + 1) * 0xD1B54A32D192ED03U + at;
}

// A message that is combined; as runtime/memory/reducing_store.
class SumStore : public engine::SegmentStore {
 public:
  SumStore(engine::SegmentGrid grid, int rank, std::span<const engine::TreeRole> roles,
           std::span<const engine::TreeWindows> windows, bool keeps_result, bool in_place)
      : grid_(grid), keeps_result_(keeps_result), in_place_(in_place && keeps_result) {
    for (std::uint64_t at = 0; at < grid.message; ++at) own_.push_back(own_element(rank, at));
    if (keeps_result) result_ = in_place_ ? own_ : std::vector<Element>(grid.message, 0);
    for (std::size_t tree = 0; tree < roles.size(); ++tree) {
      buffers_.push_back(engine::combining_buffers(windows[tree], keeps_result));
      auto& of_tree = scratch_.emplace_back();
      for (const std::uint64_t count : buffers_[tree]) of_tree.emplace_back(count * grid.segment);
    }
  }

  std::byte* buffer_for(const engine::Segment& segment) override {
    if (buffers_[segment.tree].empty()) return as_bytes(own() + segment.offset);
    if (keeps_result_) return as_bytes(result_.data() + segment.offset);
    return arrival_buffer_for(segment, 0);
  }
  std::byte* arrival_buffer_for(const engine::Segment& segment, std::size_t in) override {
    if (in == 0 && keeps_result_ && !in_place_) return as_bytes(result_.data() + segment.offset);
    const std::uint64_t slot = segment.nth % buffers_[segment.tree][in];
    return as_bytes(scratch_[segment.tree][in].data() + slot * grid_.segment);
  }
  [[nodiscard]] std::uint64_t capacity(std::size_t tree, std::size_t in) const override {
    return buffers_[tree][in];
  }
  [[nodiscard]] bool sends_from(std::size_t in) const override { return in == 0 && !keeps_result_; }
  void combine(const engine::Segment& segment, std::size_t in) override {
    auto* const sum = reinterpret_cast<Element*>(buffer_for(segment));
    const auto* const added = reinterpret_cast<const Element*>(arrival_buffer_for(segment, in));
    for (std::size_t i = 0; i < segment.length; ++i) {
      const bool begins = in == 0 && !in_place_;
      sum[i] = combined(begins ? own_[segment.offset + i] : sum[i], added[i]);
    }
  }
  [[nodiscard]] std::span<const Element> result() const { return result_; }
  [[nodiscard]] std::byte* result_bytes() { return as_bytes(result_.data()); }
  [[nodiscard]] bool is_in_place() const { return in_place_; }

 private:
  static std::byte* as_bytes(Element* at) { return reinterpret_cast<std::byte*>(at); }
  Element* own() { return in_place_ ? result_.data() : own_.data(); }

  engine::SegmentGrid grid_;
  bool keeps_result_;
  bool in_place_;
  std::vector<Element> own_;
  std::vector<Element> result_;
  std::vector<std::vector<std::uint64_t>> buffers_;
  std::vector<std::vector<std::vector<Element>>> scratch_;
};

// The result of an allreduce, which is copied while it is being combined.
class ReducedStore : public engine::SegmentStore {
 public:
  ReducedStore(SumStore& sums, engine::Engine<Transport>& up) : sums_(sums), up_(up) {}
  std::byte* buffer_for(const engine::Segment& segment) override {
    return sums_.result_bytes() + segment.offset;
  }
  [[nodiscard]] bool is_ready(const engine::Segment& segment) const override {
    return up_.is_ready(segment.index);
  }
  [[nodiscard]] bool is_free(const engine::Segment& segment) const override {
    return up_.is_finished(segment.index) ||
           (!sums_.is_in_place() && up_.only_sends(segment.index));
  }
  [[nodiscard]] bool has_work() const override { return !up_.is_done(); }
  void work() override {
    if (has_work()) up_.progress();
  }

 private:
  SumStore& sums_;
  engine::Engine<Transport>& up_;
};

}  // namespace espalier::testing::adversary
