// Whether files are still as they were: detects sources that change while they are sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

struct stat;

namespace espalier::runtime {

// What the system knows of a file that changes whenever its contents do, or another file takes its
// name (stat(2)). Seconds are since 1970.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_s = 0;
  std::int64_t modified_ns = 0;
  std::int64_t status_changed_s = 0;  // ctime, which no program can set back
  std::int64_t status_changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const struct stat& state);
// follow: the stamp of a symbolic link's target rather than of the link. Throws InputError.
FileStamp stamp_of(const std::string& file, bool follow);

// Returns when the clock from which the system takes the times of files is past the stamps, so that
// every later write gives a file another time. At most 20 ms, which is more than a tick of that
// clock: a file server's clock may be ahead of ours.
void wait_until_past(std::span<const FileStamp> stamps);

// A source that is not as it was before.
struct SourceChange {
  std::string file;        // the first one
  std::string what;        // what differs: "size and modification time", or the system's reason
  std::size_t others = 0;  // further files that have changed
};
// "FILE: changed while it was sent (WHAT)".
std::string describe(const SourceChange& change);

// Compares a file with its earlier stamp, and notes a difference in `change`. follow: as above.
void compare(const std::string& file, const FileStamp& before, bool follow,
             std::optional<SourceChange>& change);

}  // namespace espalier::runtime
