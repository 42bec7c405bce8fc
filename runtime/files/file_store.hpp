// Segments of a file: read on the source, written elsewhere, in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/segments.hpp"
#include "runtime/api/broadcast.hpp"
#include "runtime/files/files.hpp"
#include "runtime/memory/checksum.hpp"

namespace espalier::runtime {

using engine::Segment;
using engine::SegmentGrid;
using engine::SegmentStore;

class FileStore : public SegmentStore {
 public:
  // On the source `in` is read, elsewhere it is null. out: written; null: not written (on the
  // source, and on ranks that only help others).
  FileStore(const Broadcast::StreamShape& shape, ByteSource* in, ByteTarget* out);
  [[nodiscard]] std::uint64_t segments_per_tree() const override {
    return shape_.segments_per_tree;
  }
  std::byte* buffer_for(const Segment& segment) override;
  void load(const Segment& segment) override;
  void arrived(const Segment& segment) override;
  // Reads a segment that was loaded, or has arrived, into its buffer again.
  void reload(const Segment& segment);
  [[nodiscard]] bool failed() const override { return !failure_.empty(); }
  // The reason for its failure; empty if it has not failed.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_.value(); }

  // The message is the remainder of a longer one, whose first `bytes` bytes, in segments of the
  // same size, have the checksum `checksum`.
  void continue_from(std::uint64_t bytes, std::uint64_t checksum);

 private:
  // Reads and writes the segment unless the store has failed; an InputError becomes the failure.
  void move(const Segment& segment);
  // The segments before `end` of this tree are in `out`; reports the progress from time to time.
  void note_written(std::size_t tree, std::uint64_t end);

  Broadcast::StreamShape shape_;
  ByteSource* in_;
  ByteTarget* out_;
  std::unique_ptr<std::byte[]> buffer_;
  std::uint64_t begin_ = 0;             // of this message in the whole one
  std::vector<std::uint64_t> written_;  // for each tree: end of its written segments
  std::uint64_t noted_ = 0;
  MessageChecksum checksum_;
  std::string failure_;
};

// The checksum that a store with segments of `segment_bytes` would compute for the first `bytes`
// bytes of the file.
std::uint64_t checksum_of(StoredBytes& file, std::uint64_t bytes, std::uint64_t segment_bytes);

}  // namespace espalier::runtime
