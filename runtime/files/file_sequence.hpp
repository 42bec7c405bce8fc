// The bytes of files that are sent: all of one file after the other, except for the holes of sparse
// files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace espalier::runtime {

struct ByteRange {
  std::uint64_t offset;
  std::uint64_t bytes;
  bool operator==(const ByteRange&) const = default;
};

// A hole is a range of a file that is not on the disk and reads as zeros. Shorter ones than this
// are sent as zeros: each that is not sent costs 16 bytes of memory on every rank.
inline constexpr std::uint64_t kLeastHole = std::uint64_t{64} << 10;
// Holes beyond this number, over all files, are sent as well.
inline constexpr std::size_t kMostHoles = std::size_t{1} << 16;

// The size of a file, and its holes in ascending order.
struct FileLayout {
  std::uint64_t bytes = 0;
  std::vector<ByteRange> holes{};
};

// The first `most` holes of at least kLeastHole. Finds none where the file system does not report
// them.
FileLayout layout_of(int descriptor, std::uint64_t bytes, std::size_t most = kMostHoles);

// Files are numbered by the caller.
class FileSequence {
 public:
  void add(std::size_t file, const FileLayout& layout);
  // All bytes but those of holes.
  [[nodiscard]] std::uint64_t bytes() const { return pieces_.empty() ? 0 : pieces_.back().end; }

  struct Part {
    std::size_t file;
    std::uint64_t offset;  // in that file
    std::size_t at;        // offset in the requested range
    std::size_t bytes;
  };
  // The parts of files that make up the bytes [offset, offset + bytes).
  [[nodiscard]] std::vector<Part> parts_of(std::uint64_t offset, std::size_t bytes) const;

 private:
  // Consecutive bytes of a file, without holes.
  struct Piece {
    std::uint64_t end;  // in the sequence
    std::size_t file;
    std::uint64_t offset;  // of its first byte in the file
  };
  std::vector<Piece> pieces_;
};

// Sets the size of a new file and reserves disk space for all but its holes. Refuses if there is
// too little space; does nothing if the file system cannot reserve any. name: for error messages.
void reserve_space(int descriptor, const std::string& name, const FileLayout& layout);

// Writes zeros where the file has holes: for devices, which may contain anything.
void fill_holes(int descriptor, const std::string& name, const FileLayout& layout);

}  // namespace espalier::runtime
