// Segments of a file: read on the source, written elsewhere, in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "runtime/engine/segments.hpp"
#include "runtime/files/files.hpp"
#include "runtime/memory/checksum.hpp"

namespace espalier::runtime {

// The windows' buffers, and the common parts of the file stores.
class FileStore : public SegmentStore {
 public:
  explicit FileStore(const Broadcast::StreamShape& shape);
  [[nodiscard]] std::uint64_t segments_per_tree() const override {
    return shape_.segments_per_tree;
  }
  std::byte* buffer_for(const Segment& segment) override;
  [[nodiscard]] bool failed() const override { return !failure_.empty(); }
  // The reason for its failure; empty if it has not failed.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_.value(); }

  // The message is the remainder of a longer one, whose first `bytes` bytes, in segments of the
  // same size, have the checksum `checksum`.
  void continue_from(std::uint64_t bytes, std::uint64_t checksum);

 protected:
  // Runs `act` unless the store has failed; an InputError becomes the failure.
  template <class Act>
  void attempt(const Act& act);
  // The segment's offset in the whole message.
  [[nodiscard]] std::uint64_t place_of(const Segment& segment) const {
    return begin_ + segment.offset;
  }
  void add_to_checksum(const Segment& segment);
  // Call it when the segment is in `out`; reports the progress to `out` from time to time.
  void note_written(const Segment& segment, ByteTarget& out);

 private:
  Broadcast::StreamShape shape_;
  std::unique_ptr<std::byte[]> buffer_;
  std::uint64_t begin_ = 0;
  std::vector<std::uint64_t> written_;  // for each tree: end of its written segments in the message
  std::uint64_t noted_ = 0;
  MessageChecksum checksum_;
  std::string failure_;
};

// The source's store: reads `in`, and also writes `out` unless it is null.
class FileSource : public FileStore {
 public:
  FileSource(const Broadcast::StreamShape& shape, ByteSource& in, ByteTarget* out)
      : FileStore(shape), in_(&in), out_(out) {}
  void load(const Segment& segment) override;

 private:
  ByteSource* in_;
  ByteTarget* out_;
};

// The other ranks' store: writes `out`.
class FileSink : public FileStore {
 public:
  FileSink(const Broadcast::StreamShape& shape, ByteTarget& out) : FileStore(shape), out_(&out) {}
  void arrived(const Segment& segment) override;

 private:
  ByteTarget* out_;
};

// The checksum that a store with segments of `segment_bytes` would compute for the first `bytes`
// bytes of the file.
std::uint64_t checksum_of(StoredBytes& file, std::uint64_t bytes, std::uint64_t segment_bytes);

}  // namespace espalier::runtime
