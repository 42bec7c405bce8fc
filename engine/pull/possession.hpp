// Which rank has which segments of a message, and which it has asked for, as far as one rank knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier::engine::pull {

// A set of segments.
class SegmentSet {
 public:
  SegmentSet() = default;
  explicit SegmentSet(std::uint64_t segments) : words_((segments + 63) / 64) {}

  [[nodiscard]] bool contains(std::uint64_t segment) const {
    return (words_[segment / 64] >> (segment % 64) & 1U) != 0;
  }
  // Whether it was not in the set before.
  bool insert(std::uint64_t segment);
  // Whether it was in the set.
  bool erase(std::uint64_t segment);
  void clear();
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // 64 segments each, from the lowest bit on.
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t size_ = 0;
};

// Memory: two bits for each rank and segment, and four bytes for each segment.
class Possession {
 public:
  Possession(std::size_t ranks, std::uint64_t segments);

  // A rank has the segment, which it therefore does not want any more. Whether that is new.
  bool add_have(std::size_t rank, std::uint64_t segment);
  void add_want(std::size_t rank, std::uint64_t segment);
  void drop_want(std::size_t rank, std::uint64_t segment);
  // The rank is dead, and what it had and wanted does not count.
  void forget(std::size_t rank);

  [[nodiscard]] const SegmentSet& have(std::size_t rank) const { return have_[rank]; }
  [[nodiscard]] const SegmentSet& want(std::size_t rank) const { return want_[rank]; }
  // The number of ranks that have the segment or want it.
  [[nodiscard]] std::uint32_t rarity(std::uint64_t segment) const { return rarity_[segment]; }

 private:
  std::vector<SegmentSet> have_;  // by rank
  std::vector<SegmentSet> want_;  // by rank; none of them is in have_
  std::vector<std::uint32_t> rarity_;
};

}  // namespace espalier::engine::pull
