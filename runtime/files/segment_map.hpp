// Which segments of a message a partial output has, and their checksums, in a file beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "planner/plan/segment_grid.hpp"
#include "support/descriptor.hpp"

namespace espalier::runtime {

using planner::SegmentGrid;

// After a crash of the host the map may claim more than the output has, because nothing orders
// their writes on the disk. So a map that was read counts as a claim: compare each segment with its
// checksum first.
class SegmentMap {
 public:
  // Only in memory; no segment is there.
  explicit SegmentMap(const SegmentGrid& grid);
  // In `file`, which is created, or begun again where it is for another message or is damaged, or
  // where `resumes` is false. identity: of the source (ByteSource::identity). Throws InputError.
  SegmentMap(std::string file, std::uint64_t identity, const SegmentGrid& grid, bool resumes);

  [[nodiscard]] bool contains(std::uint64_t index) const { return marks_[index] != 0; }
  // Of a segment that the map contains, as given to add().
  [[nodiscard]] std::uint64_t checksum(std::uint64_t index) const { return marks_[index]; }
  // checksum: checksum_of_segment(). Write the segment to the output first. Throws InputError.
  void add(std::uint64_t index, std::uint64_t checksum);
  void drop(std::uint64_t index);
  // The sum of all checksums: equal for equal messages.
  [[nodiscard]] std::uint64_t sum() const;
  [[nodiscard]] const SegmentGrid& grid() const { return grid_; }
  // Removes the file.
  void remove();

 private:
  void put(std::uint64_t index, std::uint64_t mark);

  SegmentGrid grid_;
  std::string file_{};
  Descriptor descriptor_{};
  std::vector<std::uint64_t> marks_;  // 0: is not there
};

// XXH3 of a segment, seeded with its place in the message; never 0.
std::uint64_t checksum_of_segment(const SegmentGrid& grid, std::uint64_t index,
                                  const std::byte* bytes);

}  // namespace espalier::runtime
