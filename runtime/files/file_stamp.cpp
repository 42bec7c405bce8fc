#include "runtime/files/file_stamp.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <string_view>
#include <thread>
#include <tuple>

#include "runtime/files/files.hpp"
#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {
namespace {

// Sets errno if it returns nothing.
std::optional<FileStamp> read_stamp(const std::string& file, bool follow) {
  struct stat state {};
  const int fault = follow ? ::stat(file.c_str(), &state) : ::lstat(file.c_str(), &state);
  if (fault != 0) return {};
  return stamp_of(state);
}

std::string difference_of(const FileStamp& before, const FileStamp& now) {
  if (before.device != now.device || before.inode != now.inode) return "another file has its name";
  const bool size = before.bytes != now.bytes;
  const bool time =
      std::tie(before.modified_s, before.modified_ns) != std::tie(now.modified_s, now.modified_ns);
  if (size && time) return "size and modification time";
  if (size) return "size";
  return time ? "modification time" : "time of the last status change";
}

}  // namespace

FileStamp stamp_of(const struct stat& state) {
  return {state.st_dev,         state.st_ino,          static_cast<std::uint64_t>(state.st_size),
          state.st_mtim.tv_sec, state.st_mtim.tv_nsec, state.st_ctim.tv_sec,
          state.st_ctim.tv_nsec};
}

FileStamp stamp_of(const std::string& file, bool follow) {
  const std::optional<FileStamp> stamp = read_stamp(file, follow);
  if (!stamp) refuse_file(file, "cannot read: " + reason_of(errno));
  return *stamp;
}

void wait_until_past(std::span<const FileStamp> stamps) {
  const auto time_of = [](const FileStamp& stamp) {
    return std::pair(stamp.status_changed_s, stamp.status_changed_ns);
  };
  const auto newest = std::ranges::max_element(stamps, {}, time_of);
  if (newest == stamps.end()) return;
  constexpr int kMostMilliseconds = 20;
  for (int waited = 0; waited < kMostMilliseconds; ++waited) {
    timespec now{};
    (void)::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (std::pair<std::int64_t, std::int64_t>(now.tv_sec, now.tv_nsec) > time_of(*newest)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string describe(const SourceChange& change) {
  const std::string others =
      change.others == 0 ? "" : "; so did " + counted(change.others, "other file");
  return fmt::format("{}: changed while it was sent ({}){}", printable(change.file), change.what,
                     others);
}

void compare(const std::string& file, const FileStamp& before, bool follow,
             std::optional<SourceChange>& change) {
  const std::optional<FileStamp> now = read_stamp(file, follow);
  if (now && *now == before) return;
  if (change) {
    ++change->others;
  } else {
    change = {file, now ? difference_of(before, *now) : reason_of(errno), 0};
  }
}

}  // namespace espalier::runtime
