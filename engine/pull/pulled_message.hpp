// What is pulled: blocks of a message, each of which one rank has at the beginning. A broadcast has
// one; an allgather has one for each rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_grid.hpp"

namespace espalier::engine::pull {

// What ranks can do without a plan.
inline constexpr std::array kPulledOperations{planner::Operation::kBroadcast,
                                              planner::Operation::kAllgather};

// The blocks follow one another, each cut into segments of its own, which are numbered through.
class PulledMessage {
 public:
  struct Block {
    std::size_t origin;   // the rank that has it
    std::uint64_t bytes;  // may be 0
  };

  // segment_bytes: at least 1, of all segments but the last one of each block, which may be
  // shorter.
  PulledMessage(std::span<const Block> blocks, std::uint64_t segment_bytes);
  // Of a broadcast.
  PulledMessage(std::size_t source, const planner::SegmentGrid& grid);

  [[nodiscard]] std::uint64_t bytes() const { return ends_.back().byte; }
  [[nodiscard]] std::uint64_t segment_bytes() const { return segment_bytes_; }
  [[nodiscard]] std::uint64_t segments() const { return ends_.back().segment; }
  // The rank that has all of it; unset: several have parts.
  [[nodiscard]] std::optional<std::size_t> source() const { return source_; }

  // Of a segment.
  struct Place {
    std::size_t block;
    std::uint64_t offset;  // in its block
    std::uint64_t length;
  };
  // Precondition: segment < segments().
  [[nodiscard]] Place place_of(std::uint64_t segment) const;
  [[nodiscard]] std::uint64_t length(std::uint64_t segment) const {
    return place_of(segment).length;
  }
  // In the message.
  [[nodiscard]] std::uint64_t offset(std::uint64_t segment) const {
    const Place place = place_of(segment);
    return begin_of(place.block).byte + place.offset;
  }
  // act(segment, origin) for each segment, in order.
  template <class Act>
  void for_each_segment(const Act& act) const {
    for (std::size_t block = 0; block < ends_.size(); ++block) {
      for (std::uint64_t i = begin_of(block).segment; i < ends_[block].segment; ++i) {
        act(i, origins_[block]);
      }
    }
  }

 private:
  struct Position {
    std::uint64_t segment = 0;
    std::uint64_t byte = 0;
  };
  [[nodiscard]] Position begin_of(std::size_t block) const {
    return block == 0 ? Position{} : ends_[block - 1];
  }

  std::uint64_t segment_bytes_;
  std::vector<std::size_t> origins_;  // by block
  std::vector<Position> ends_;        // likewise; at least one
  std::optional<std::size_t> source_;
};

}  // namespace espalier::engine::pull
