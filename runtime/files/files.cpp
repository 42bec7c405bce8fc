#include "runtime/files/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/memory/checksum.hpp"
#include "support/errors.hpp"

namespace espalier::runtime {

std::string reason_of(int error_number) {
  return std::generic_category().message(error_number);
}

void refuse_file(const std::string& name, const std::string& reason) {
  throw InputError(name, {}, reason);
}

void read_all(int descriptor, const std::string& name, std::uint64_t offset, std::byte* to,
              std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_file(name, "cannot read: " + reason_of(errno));
    if (got == 0)
      refuse_file(name, fmt::format("became shorter while it was read, at byte {}", offset));
    offset += static_cast<std::uint64_t>(got);
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

void write_all(int descriptor, const std::string& name, std::uint64_t offset, const std::byte* from,
               std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t put = ::pwrite(descriptor, from, bytes, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) refuse_file(name, "cannot write: " + reason_of(errno));
    offset += static_cast<std::uint64_t>(put);
    from += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

void ReadAhead::reached(int descriptor, std::uint64_t offset) {
  constexpr std::uint64_t kAhead = std::uint64_t{32} << 20;
  if (offset + kAhead / 2 < asked_) return;
  const std::uint64_t from = std::max(asked_, offset);
  asked_ = offset + kAhead;
  ::posix_fadvise(descriptor, static_cast<off_t>(from), static_cast<off_t>(asked_ - from),
                  POSIX_FADV_WILLNEED);
}

void WriteBehind::wrote(int descriptor, std::uint64_t offset, std::size_t bytes) {
  constexpr std::uint64_t kBatch = std::uint64_t{16} << 20;
  written_ += bytes;
  if (written_ < kBatch) return;
  written_ = 0;
  // Up to the last write; with several trees, holes before it are written out later.
  const std::uint64_t end = offset + bytes;
  if (end <= begun_) return;
  ::sync_file_range(descriptor, static_cast<off_t>(begun_), static_cast<off_t>(end - begun_),
                    SYNC_FILE_RANGE_WRITE);
  begun_ = end;
}

std::string kept_name(const std::string& target) {
  std::filesystem::path path(target);
  const std::string name = path.filename().string();
  return path.replace_filename(".espalier-" + name + ".part").string();
}

// --- ProgressRecord ---

// One line of a fixed length, so that an update is a single write.
constexpr std::string_view kRecord = "espalier-progress {:016x} {:020d}\n";

ProgressRecord::ProgressRecord(std::string name, std::uint64_t identity)
    : name_(std::move(name)), identity_(identity) {
  descriptor_ = Descriptor(::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor_.is_open()) refuse_file(name_, "cannot write: " + reason_of(errno));
  std::string line(fmt::format(kRecord, 0U, 0U).size(), '\0');
  if (::pread(descriptor_.get(), line.data(), line.size(), 0) ==
      static_cast<ssize_t>(line.size())) {
    std::uint64_t bytes = 0;
    (void)std::from_chars(line.data() + line.size() - 21, line.data() + line.size() - 1, bytes);
    is_new_ = line != fmt::format(kRecord, identity_, bytes);
    if (!is_new_) bytes_ = bytes;
  }
}

void ProgressRecord::write(std::uint64_t bytes) {
  const std::string line = fmt::format(kRecord, identity_, bytes);
  write_all(descriptor_.get(), name_, 0, std::as_bytes(std::span(line)).data(), line.size());
  bytes_ = bytes;
}

void ProgressRecord::remove() {
  ::unlink(name_.c_str());
}

// --- InputFile ---

InputFile::InputFile(std::string name) : name_(std::move(name)) {
  descriptor_ = Descriptor(
      ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO must not block
  if (!descriptor_.is_open()) refuse_file(name_, "cannot open: " + reason_of(errno));
  struct stat state {};
  const bool known = ::fstat(descriptor_.get(), &state) == 0;
  if (!known || !S_ISREG(state.st_mode)) {
    const std::string reason = known ? "is not a regular file" : reason_of(errno);
    refuse_file(name_, "cannot read: " + reason);
  }
  stamp_ = stamp_of(state);
  wait_until_past({&stamp_, 1});
  layout_ = layout_of(descriptor_.get(), stamp_.bytes);
  sequence_.add(0, layout_);
  const std::array<std::int64_t, 3> known_by = {state.st_size, stamp_.modified_s,
                                                stamp_.modified_ns};
  identity_ =
      hash_of(std::as_bytes(std::span(layout_.holes)), hash_of(std::as_bytes(std::span(known_by))));
  ::posix_fadvise(descriptor_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

std::optional<SourceChange> InputFile::change() const {
  std::optional<SourceChange> change;
  compare(name_, stamp_, true, change);
  return change;
}

void InputFile::read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) {
  for (const auto& [file, from, at, here] : sequence_.parts_of(offset, bytes)) {
    ahead_.reached(descriptor_.get(), from);
    read_all(descriptor_.get(), name_, from, to + at, here);
  }
}

// --- OutputFile ---

OutputFile::OutputFile(std::string name, const FileLayout& layout,
                       std::optional<std::uint64_t> resume)
    : name_(std::move(name)), target_(name_) {
  sequence_.add(0, layout);
  struct stat old {};
  const bool exists = ::stat(name_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) refuse(EISDIR);
  if (exists && ::access(name_.c_str(), W_OK) != 0) refuse(errno);
  in_place_ = exists && !S_ISREG(old.st_mode);
  if (in_place_) {
    descriptor_ = Descriptor(::open(name_.c_str(), O_RDWR | O_CLOEXEC));
    if (!descriptor_.is_open()) refuse(errno);
    fill_holes(descriptor_.get(), name_, layout);
    return;
  }
  std::error_code fault;
  if (exists) target_ = std::filesystem::canonical(name_, fault).string();
  if (fault) refuse(fault.value());
  std::string folder = std::filesystem::path(target_).parent_path().string();
  if (folder.empty()) folder = ".";
  if (!resume) {
    open_beside(folder);
  } else if (::access(folder.c_str(), W_OK | X_OK) == 0) {
    open_kept(*resume);
  } else {
    refuse(errno);  // by the name that the user gave, and not the one of what is kept
  }
  if (exists) (void)::fchmod(descriptor_.get(), old.st_mode & 07777U);
  reserve_space(descriptor_.get(), name_, layout);
}

void OutputFile::open_beside(const std::string& folder) {
  descriptor_ = Descriptor(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  if (descriptor_.is_open()) return;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) refuse(errno);
  temporary_.set(fmt::format("{}/.espalier-{}", folder, ::getpid()));
  descriptor_ =
      Descriptor(::open(temporary_.get().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!descriptor_.is_open()) refuse(errno);
}

void OutputFile::open_kept(std::uint64_t identity) {
  kept_ = kept_name(target_);
  record_.emplace(kept_ + ".progress", identity);
  // Bytes of another message must not stay where this one has holes.
  const int truncation = record_->is_new() ? O_TRUNC : 0;
  descriptor_ = Descriptor(::open(kept_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | truncation, 0666));
  if (!descriptor_.is_open()) refuse(errno);
  if (record_->is_new()) record_->write(0);
}

void OutputFile::refuse(int reason) const {
  refuse_file(name_, "cannot write: " + reason_of(reason));
}

void OutputFile::write_at(std::uint64_t offset, const std::byte* from, std::size_t bytes) {
  for (const auto& [file, to, at, here] : sequence_.parts_of(offset, bytes)) {
    write_all(descriptor_.get(), name_, to, from + at, here);
    if (!in_place_) behind_.wrote(descriptor_.get(), to, here);
  }
}

void OutputFile::read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) {
  for (const auto& [file, from, at, here] : sequence_.parts_of(offset, bytes)) {
    read_all(descriptor_.get(), name_, from, to + at, here);
  }
}

void OutputFile::sync() {
  if (::fsync(descriptor_.get()) != 0 && errno != EINVAL && errno != ENOTSUP) refuse(errno);
}

void OutputFile::commit() {
  if (in_place_) return;
  if (kept_.empty() && !temporary_.is_set()) {
    // linkat() cannot replace an existing file, but rename() can: so link to a temporary name
    // first.
    const std::string folder = std::filesystem::path(target_).parent_path().string();
    temporary_.set(fmt::format("{}/.espalier-{}", folder.empty() ? "." : folder, ::getpid()));
    ::unlink(temporary_.get().c_str());
    const std::string by_number = fmt::format("/proc/self/fd/{}", descriptor_.get());
    if (::linkat(AT_FDCWD, by_number.c_str(), AT_FDCWD, temporary_.get().c_str(),
                 AT_SYMLINK_FOLLOW) != 0) {
      refuse(errno);
    }
  }
  const std::string& name = kept_.empty() ? temporary_.get() : kept_;
  if (::rename(name.c_str(), target_.c_str()) != 0) refuse(errno);
  temporary_.forget();
  if (record_) record_->remove();
  if (!descriptor_.close()) refuse(errno);
}

}  // namespace espalier::runtime
