// Stores whose elements are known, and which notice when segments come in a wrong order or
// overwrite one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "tests/engine/adversary_network.hpp"

namespace espalier::testing::adversary {

// Neither commutative nor associative, so that the sum shows the order of combining.
inline Element combined(Element sum, Element added) {
  return sum * 0x9E3779B97F4A7C15U + (added << 17U | added >> 47U) + 1;
}
// What a rank adds, or what it copies to the others as a root.
inline Element own_element(int rank, std::uint64_t at) {
  return (static_cast<Element>(rank) + 1) * 0xD1B54A32D192ED03U + at;
}

// A rank's part of a call. Where segments are combined: as runtime/memory/reducing_store.
class Store : public engine::SegmentStore {
 public:
  struct Tree {
    std::size_t block;
    int root;
    bool combines;
    bool is_after;      // copies what another block has combined
    bool keeps_result;  // on this rank; of a tree that combines
    // Of each in-edge, of a tree that combines; one, of a tree along which the rank forwards.
    std::vector<std::uint64_t> buffers;
    std::uint64_t segment;      // longest one
    std::uint64_t shift = 0;    // of the tree's offsets, from those of its root
    bool is_forwarded = false;  // not kept
  };
  struct Shape {
    int rank;
    std::uint64_t elements;
    std::size_t blocks;
    std::vector<Tree> trees;
    bool in_place;
    std::optional<std::uint64_t> capacity;  // in segments per tree; unset: the whole message
    std::uint64_t fails_after;              // this many loads or arrivals
  };

  explicit Store(Shape shape)
      : shape_(std::move(shape)), loaded_(shape_.blocks, 0), moved_(shape_.trees.size(), 0) {
    for (std::uint64_t at = 0; at < shape_.elements; ++at) {
      own_.push_back(own_element(shape_.rank, at));
    }
    result_ = shape_.in_place ? own_ : std::vector<Element>(shape_.elements + 1, 0);
    result_.resize(shape_.elements + 1);
    for (const Tree& tree : shape_.trees) {
      auto& of_tree = scratch_.emplace_back();
      if (shape_.capacity) of_tree.emplace_back(*shape_.capacity * tree.segment);
      for (const std::uint64_t count : tree.buffers) of_tree.emplace_back(count * tree.segment);
    }
  }

  [[nodiscard]] std::uint64_t segments_per_tree() const override {
    return shape_.capacity.value_or(UINT64_MAX);
  }
  std::byte* buffer_for(const engine::Segment& segment) override {
    const Tree& tree = shape_.trees[segment.tree];
    if (shape_.capacity) return scratch_at(segment, 0, *shape_.capacity);
    if (tree.is_forwarded) return scratch_at(segment, 0, tree.buffers[0]);
    if (tree.combines && tree.buffers.empty()) return as_bytes(own(tree) + segment.offset);
    if (!tree.combines || tree.keeps_result) return as_bytes(result_.data() + segment.offset);
    return arrival_buffer_for(segment, 0);
  }
  void load(const engine::Segment& segment) override {
    const Tree& tree = shape_.trees[segment.tree];
    if (segment.index != loaded_[tree.block]++) throw Violation("segments are not loaded in order");
    if (tree.is_after) throw Violation("a segment is loaded that is combined");
    auto* const at = reinterpret_cast<Element*>(buffer_for(segment));
    for (std::size_t i = 0; i < segment.length; ++i) {
      at[i] = own_element(shape_.rank, segment.offset + i);
    }
    ++moved_[segment.tree];
    ++all_moved_;
  }
  void arrived(const engine::Segment& segment) override {
    const Tree& tree = shape_.trees[segment.tree];
    if (segment.nth != moved_[segment.tree]++) throw Violation("segments arrive out of order");
    ++all_moved_;
    if (tree.is_after) return;  // compared when the call is done
    const auto* const at = reinterpret_cast<const Element*>(buffer_for(segment));
    for (std::size_t i = 0; i < segment.length; ++i) {
      if (at[i] != own_element(tree.root, segment.offset - tree.shift + i)) {
        throw Violation("a segment has wrong elements");
      }
    }
  }
  [[nodiscard]] bool failed() const override { return all_moved_ >= shape_.fails_after; }

  std::byte* arrival_buffer_for(const engine::Segment& segment, std::size_t in) override {
    const Tree& tree = shape_.trees[segment.tree];
    if (!tree.combines) return buffer_for(segment);
    if (in == 0 && tree.keeps_result && !shape_.in_place) {
      return as_bytes(result_.data() + segment.offset);
    }
    return scratch_at(segment, in, tree.buffers[in]);
  }
  [[nodiscard]] std::uint64_t capacity(std::size_t tree, std::size_t in) const override {
    const Tree& of = shape_.trees[tree];
    return of.buffers.empty() ? segments_per_tree() : of.buffers[in];
  }
  [[nodiscard]] bool sends_from(std::size_t tree, std::size_t in) const override {
    const Tree& of = shape_.trees[tree];
    return in == 0 && !(of.combines && of.keeps_result);
  }
  void combine(const engine::Segment& segment, std::size_t in) override {
    const Tree& tree = shape_.trees[segment.tree];
    auto* const sum = reinterpret_cast<Element*>(buffer_for(segment));
    const auto* const added = reinterpret_cast<const Element*>(arrival_buffer_for(segment, in));
    const bool holds_own = shape_.in_place && tree.keeps_result;
    for (std::size_t i = 0; i < segment.length; ++i) {
      const bool begins = in == 0 && !holds_own;
      sum[i] = combined(begins ? own_[segment.offset + i] : sum[i], added[i]);
    }
  }

  [[nodiscard]] std::span<const Element> result() const { return result_; }
  // Of a tree that copies.
  [[nodiscard]] std::uint64_t moved(std::size_t tree) const { return moved_[tree]; }

 private:
  static std::byte* as_bytes(Element* at) { return reinterpret_cast<std::byte*>(at); }
  Element* own(const Tree& tree) {
    return shape_.in_place && tree.keeps_result ? result_.data() : own_.data();
  }
  std::byte* scratch_at(const engine::Segment& segment, std::size_t in, std::uint64_t buffers) {
    const std::uint64_t place = segment.nth % buffers * shape_.trees[segment.tree].segment;
    return as_bytes(scratch_[segment.tree][in].data() + place);
  }

  Shape shape_;
  std::vector<std::uint64_t> loaded_;  // of each block
  std::vector<std::uint64_t> moved_;   // of each tree: loaded or arrived
  std::uint64_t all_moved_ = 0;
  std::vector<Element> own_;
  std::vector<Element> result_;
  std::vector<std::vector<std::vector<Element>>> scratch_;  // of each tree and in-edge
};

}  // namespace espalier::testing::adversary
