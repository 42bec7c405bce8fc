#include "runtime/files/file_store.hpp"

#include <algorithm>

#include "support/errors.hpp"

namespace espalier::runtime {

FileStore::FileStore(const Broadcast::StreamShape& shape, ByteSource* in, ByteTarget* out)
    : shape_(shape),
      in_(in),
      out_(out),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(shape.segment_bytes *
                                                          shape.segments_per_tree * shape.trees)),
      written_(shape.trees) {}

void FileStore::continue_from(std::uint64_t bytes, std::uint64_t checksum) {
  begin_ = noted_ = bytes;
  std::fill(written_.begin(), written_.end(), bytes);
  checksum_ = MessageChecksum(checksum);
}

std::byte* FileStore::buffer_for(const Segment& segment) {
  const std::uint64_t slot = segment.nth % shape_.segments_per_tree;
  return &buffer_[(segment.tree * shape_.segments_per_tree + slot) * shape_.segment_bytes];
}

void FileStore::load(const Segment& segment) {
  move(segment);
}

void FileStore::arrived(const Segment& segment) {
  move(segment);
}

void FileStore::reload(const Segment& segment) {
  if (failed()) return;
  StoredBytes& file = in_ != nullptr ? static_cast<StoredBytes&>(*in_) : *out_;
  try {
    file.read_at(begin_ + segment.offset, buffer_for(segment), segment.length);
  } catch (const InputError& error) {
    failure_ = error.what();
  }
}

void FileStore::move(const Segment& segment) {
  if (failed()) return;
  std::byte* const buffer = buffer_for(segment);
  const std::uint64_t place = begin_ + segment.offset;
  try {
    if (in_ != nullptr) in_->read_at(place, buffer, segment.length);
    checksum_.add(place, {buffer, segment.length});
    if (out_ == nullptr) return;
    out_->write_at(place, buffer, segment.length);
    note_written(segment.tree, place + segment.length);
  } catch (const InputError& error) {
    failure_ = error.what();
  }
}

void FileStore::note_written(std::size_t tree, std::uint64_t end) {
  constexpr std::uint64_t kStep = std::uint64_t{16} << 20;
  written_[tree] = end;
  if (end < noted_ + kStep) return;
  // A tree's segments arrive in order, so everything before the slowest tree's position is written.
  const std::uint64_t all = *std::min_element(written_.begin(), written_.end());
  if (all < noted_ + kStep) return;
  noted_ = all;
  out_->keep(all);
}

std::uint64_t checksum_of(StoredBytes& file, std::uint64_t bytes, std::uint64_t segment_bytes) {
  const SegmentGrid grid{bytes, segment_bytes};
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(segment_bytes);
  MessageChecksum checksum;
  for (std::uint64_t i = 0; i < grid.count(); ++i) {
    file.read_at(grid.offset(i), buffer.get(), grid.length(i));
    checksum.add(grid.offset(i), {buffer.get(), grid.length(i)});
  }
  return checksum.value();
}

}  // namespace espalier::runtime
