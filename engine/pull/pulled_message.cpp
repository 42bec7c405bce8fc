#include "engine/pull/pulled_message.hpp"

#include <algorithm>

namespace espalier::engine::pull {

PulledMessage::PulledMessage(std::span<const Block> blocks, std::uint64_t segment_bytes)
    : segment_bytes_(segment_bytes) {
  Position end;
  bool has_several = false;
  for (const Block& block : blocks) {
    origins_.push_back(block.origin);
    end.segment += planner::SegmentGrid{block.bytes, segment_bytes}.count();
    end.byte += block.bytes;
    ends_.push_back(end);
    if (block.bytes == 0) continue;
    has_several = has_several || (source_ && *source_ != block.origin);
    source_ = block.origin;
  }
  if (!source_) source_ = origins_.front();
  if (has_several) source_.reset();
}

PulledMessage::PulledMessage(std::size_t source, const planner::SegmentGrid& grid)
    : PulledMessage(std::array{Block{source, grid.message}}, grid.segment) {}

PulledMessage::Place PulledMessage::place_of(std::uint64_t segment) const {
  const auto found = std::ranges::upper_bound(ends_, segment, {}, &Position::segment);
  const auto block = static_cast<std::size_t>(found - ends_.begin());
  const Position begin = begin_of(block);
  const std::uint64_t offset = (segment - begin.segment) * segment_bytes_;
  return {block, offset, std::min(segment_bytes_, found->byte - begin.byte - offset)};
}

}  // namespace espalier::engine::pull
