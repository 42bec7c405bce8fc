#include "runtime/files/segment_map.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <span>
#include <utility>

#include "runtime/files/files.hpp"
#include "runtime/memory/checksum.hpp"

namespace espalier::runtime {
namespace {

// A header, and the checksum of each segment or 0.
using Header = std::array<std::uint64_t, 4>;
constexpr std::uint64_t kMagic = 0x316765736c617073;  // "spalseg1"

}  // namespace

SegmentMap::SegmentMap(const SegmentGrid& grid) : grid_(grid), marks_(grid.count()) {}

SegmentMap::SegmentMap(std::string file, std::uint64_t identity, const SegmentGrid& grid,
                       bool resumes)
    : grid_(grid), file_(std::move(file)), marks_(grid.count()) {
  descriptor_ = Descriptor(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor_.is_open()) refuse_file(file_, "cannot write: " + reason_of(errno));
  const Header wanted{kMagic, identity, grid.message, grid.segment};
  Header found{};
  const auto marks = std::as_writable_bytes(std::span(marks_));
  const bool is_ours = resumes &&
                       ::pread(descriptor_.get(), found.data(), sizeof found, 0) ==
                           static_cast<ssize_t>(sizeof found) &&
                       found == wanted &&
                       ::pread(descriptor_.get(), marks.data(), marks.size(), sizeof found) ==
                           static_cast<ssize_t>(marks.size());
  if (is_ours) return;
  std::ranges::fill(marks_, 0);
  // The header comes last, so that a map of which a part was written is begun again.
  if (::ftruncate(descriptor_.get(), 0) != 0)
    refuse_file(file_, "cannot write: " + reason_of(errno));
  write_all(descriptor_.get(), file_, sizeof wanted, marks.data(), marks.size());
  write_all(descriptor_.get(), file_, 0, std::as_bytes(std::span(wanted)).data(), sizeof wanted);
}

void SegmentMap::put(std::uint64_t index, std::uint64_t mark) {
  marks_[index] = mark;
  if (!descriptor_.is_open()) return;
  const std::span<const std::uint64_t> one(&marks_[index], 1);
  write_all(descriptor_.get(), file_, sizeof(Header) + index * sizeof mark,
            std::as_bytes(one).data(), sizeof mark);
}

void SegmentMap::add(std::uint64_t index, std::uint64_t checksum) {
  put(index, checksum);
}

void SegmentMap::drop(std::uint64_t index) {
  put(index, 0);
}

std::uint64_t SegmentMap::sum() const {
  return std::accumulate(marks_.begin(), marks_.end(), std::uint64_t{0});
}

void SegmentMap::remove() {
  ::unlink(file_.c_str());
}

std::uint64_t checksum_of_segment(const SegmentGrid& grid, std::uint64_t index,
                                  const std::byte* bytes) {
  const std::uint64_t hash = hash_of({bytes, grid.length(index)}, grid.offset(index));
  return hash == 0 ? 1 : hash;
}

}  // namespace espalier::runtime
