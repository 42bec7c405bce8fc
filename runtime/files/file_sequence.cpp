#include "runtime/files/file_sequence.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "runtime/files/files.hpp"

namespace espalier::runtime {
namespace {

// The consecutive ranges between the holes.
std::vector<ByteRange> data_of(const FileLayout& layout) {
  std::vector<ByteRange> data;
  std::uint64_t begin = 0;
  const auto end_at = [&](std::uint64_t end) {
    if (end > begin) data.push_back({begin, end - begin});
  };
  for (const ByteRange& hole : layout.holes) {
    end_at(hole.offset);
    begin = hole.offset + hole.bytes;
  }
  end_at(layout.bytes);
  return data;
}

}  // namespace

FileLayout layout_of(int descriptor, std::uint64_t bytes, std::size_t most) {
  FileLayout layout{bytes, {}};
  for (std::uint64_t at = 0; at < bytes && layout.holes.size() < most;) {
    const off_t data = ::lseek(descriptor, static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno != ENXIO) break;  // ENXIO: only a hole follows
    const std::uint64_t begin =
        data < 0 ? bytes : std::min(static_cast<std::uint64_t>(data), bytes);
    if (begin >= at + kLeastHole) layout.holes.push_back({at, begin - at});
    if (begin == bytes) break;
    const off_t hole = ::lseek(descriptor, static_cast<off_t>(begin), SEEK_HOLE);
    if (hole < 0 || static_cast<std::uint64_t>(hole) <= begin) break;
    at = static_cast<std::uint64_t>(hole);
  }
  return layout;
}

void FileSequence::add(std::size_t file, const FileLayout& layout) {
  for (const ByteRange& data : data_of(layout)) {
    pieces_.push_back({bytes() + data.bytes, file, data.offset});
  }
}

std::vector<FileSequence::Part> FileSequence::parts_of(std::uint64_t offset,
                                                       std::size_t bytes) const {
  std::vector<Part> parts;
  auto piece = std::ranges::upper_bound(pieces_, offset, {}, &Piece::end);
  for (std::size_t at = 0; at < bytes; ++piece) {
    const std::uint64_t begin = piece == pieces_.begin() ? 0 : std::prev(piece)->end;
    const std::uint64_t from = offset + at - begin;
    const auto here =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes - at, piece->end - begin - from));
    parts.push_back({piece->file, piece->offset + from, at, here});
    at += here;
  }
  return parts;
}

void reserve_space(int descriptor, const std::string& name, const FileLayout& layout) {
  const auto require = [&](int fault) {
    const int why = errno;
    if (fault != 0 && (why == ENOSPC || why == EFBIG || why == EDQUOT)) {
      refuse_file(name, "cannot write: " + reason_of(why));
    }
  };
  if (!layout.holes.empty()) require(::ftruncate(descriptor, static_cast<off_t>(layout.bytes)));
  for (const ByteRange& data : data_of(layout)) {
    require(::fallocate(descriptor, 0, static_cast<off_t>(data.offset),
                        static_cast<off_t>(data.bytes)));
  }
}

void fill_holes(int descriptor, const std::string& name, const FileLayout& layout) {
  constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 20;
  if (layout.holes.empty()) return;
  const std::vector<std::byte> zeros(kAtOnce);
  for (const ByteRange& hole : layout.holes) {
    for (std::uint64_t done = 0; done < hole.bytes; done += kAtOnce) {
      write_all(descriptor, name, hole.offset + done, zeros.data(),
                std::min(kAtOnce, hole.bytes - done));
    }
  }
}

}  // namespace espalier::runtime
