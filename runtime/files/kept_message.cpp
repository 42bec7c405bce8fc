#include "runtime/files/kept_message.hpp"

#include <fmt/format.h>

#include <utility>

#include "support/errors.hpp"

namespace espalier::runtime {

KeptMessage::KeptMessage(ByteSource* in, ByteTarget* out, SegmentMap map)
    : in_(in), out_(out), map_(std::move(map)) {}

bool KeptMessage::is_as_claimed(std::uint64_t index) {
  const SegmentGrid& grid = map_.grid();
  std::vector<std::byte> bytes(grid.length(index));
  out_->read_at(grid.offset(index), bytes.data(), bytes.size());
  return checksum_of_segment(grid, index, bytes.data()) == map_.checksum(index);
}

std::uint64_t KeptMessage::load(std::uint64_t index, std::byte* to) {
  const SegmentGrid& grid = map_.grid();
  StoredBytes& file = in_ != nullptr ? static_cast<StoredBytes&>(*in_) : *out_;
  file.read_at(grid.offset(index), to, grid.length(index));
  // Damage to `out` is found by whoever receives it.
  if (map_.contains(index) && in_ == nullptr) return map_.checksum(index);
  const std::uint64_t checksum = checksum_of_segment(grid, index, to);
  if (map_.contains(index)) {
    if (map_.checksum(index) == checksum) return checksum;
    throw InputError(fmt::format("byte {} or one after it has changed since it was read before",
                                 grid.offset(index)));
  }
  if (out_ != nullptr) out_->write_at(grid.offset(index), to, grid.length(index));
  map_.add(index, checksum);
  return checksum;
}

bool KeptMessage::store(std::uint64_t index, std::span<const std::byte> bytes,
                        std::uint64_t checksum) {
  const SegmentGrid& grid = map_.grid();
  if (bytes.size() != grid.length(index)) return false;
  if (checksum_of_segment(grid, index, bytes.data()) != checksum) return false;
  out_->write_at(grid.offset(index), bytes.data(), bytes.size());
  map_.add(index, checksum);
  return true;
}

void KeptMessage::load_rest() {
  std::vector<std::byte> bytes(map_.grid().segment);
  for (std::uint64_t i = 0; i < map_.grid().count(); ++i) {
    if (!map_.contains(i)) load(i, bytes.data());
  }
}

void KeptMessage::commit() {
  if (out_ == nullptr) return;
  out_->sync();
  out_->commit();
  map_.remove();
}

}  // namespace espalier::runtime
