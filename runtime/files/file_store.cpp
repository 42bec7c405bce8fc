#include "runtime/files/file_store.hpp"

#include <algorithm>

#include "support/errors.hpp"

namespace espalier::runtime {

FileStore::FileStore(const Broadcast::StreamShape& shape)
    : shape_(shape),
      room_(std::make_unique_for_overwrite<std::byte[]>(shape.slice_bytes * shape.slices_per_tree *
                                                        shape.trees)),
      written_(shape.trees) {}

void FileStore::continue_from(std::uint64_t bytes, std::uint64_t checksum) {
  begin_ = noted_ = bytes;
  std::fill(written_.begin(), written_.end(), bytes);
  checksum_ = MessageChecksum(checksum);
}

std::byte* FileStore::room_for(const Slice& slice) {
  const std::uint64_t slot = slice.nth % shape_.slices_per_tree;
  return &room_[(slice.tree * shape_.slices_per_tree + slot) * shape_.slice_bytes];
}

template <class Act>
void FileStore::attempt(const Act& act) {
  if (failed()) return;
  try {
    act();
  } catch (const InputError& error) {
    failure_ = error.what();
  }
}

void FileStore::add_to_checksum(const Slice& slice) {
  checksum_.add(place_of(slice), {room_for(slice), slice.bytes});
}

void FileStore::note_written(const Slice& slice, ByteTarget& out) {
  constexpr std::uint64_t kStep = std::uint64_t{16} << 20;
  written_[slice.tree] = place_of(slice) + slice.bytes;
  if (written_[slice.tree] < noted_ + kStep) return;
  // A tree's slices come in order, so all before the tree that is least far are there.
  const std::uint64_t all = *std::min_element(written_.begin(), written_.end());
  if (all < noted_ + kStep) return;
  noted_ = all;
  out.keep(all);
}

void FileSource::load(const Slice& slice) {
  attempt([&] {
    std::byte* const room = room_for(slice);
    in_->read_at(place_of(slice), room, slice.bytes);
    add_to_checksum(slice);
    if (out_ == nullptr) return;
    out_->write_at(place_of(slice), room, slice.bytes);
    note_written(slice, *out_);
  });
}

void FileSink::arrived(const Slice& slice) {
  attempt([&] {
    add_to_checksum(slice);
    out_->write_at(place_of(slice), room_for(slice), slice.bytes);
    note_written(slice, *out_);
  });
}

std::uint64_t checksum_of(StoredBytes& file, std::uint64_t bytes, std::uint64_t slice_bytes) {
  const SliceGrid grid{bytes, slice_bytes};
  const auto room = std::make_unique_for_overwrite<std::byte[]>(slice_bytes);
  MessageChecksum checksum;
  for (std::uint64_t i = 0; i < grid.count(); ++i) {
    file.read_at(grid.offset(i), room.get(), grid.length(i));
    checksum.add(grid.offset(i), {room.get(), grid.length(i)});
  }
  return checksum.value();
}

}  // namespace espalier::runtime
