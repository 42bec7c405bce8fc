#include "runtime/file_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "support/errors.hpp"

namespace espalier::runtime {
namespace {

std::string reason_of(int number) {
  return std::generic_category().message(number);
}

[[noreturn]] void refuse_file(const std::string& name, const std::string& reason) {
  throw InputError(name, {}, reason);
}

// Reads all of it, or says why not.
void read_all(int descriptor, const std::string& name, std::uint64_t offset, std::byte* to,
              std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_file(name, "cannot read: " + reason_of(errno));
    if (got == 0) refuse_file(name, fmt::format("became shorter while it was read, at {}", offset));
    offset += static_cast<std::uint64_t>(got);
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

}  // namespace

// --- InputFile ---

InputFile::InputFile(std::string name) : name_(std::move(name)) {
  descriptor_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not block
  if (descriptor_ < 0) refuse_file(name_, "cannot open: " + reason_of(errno));
  struct stat state {};
  const bool known = ::fstat(descriptor_, &state) == 0;
  if (!known || !S_ISREG(state.st_mode)) {
    const std::string reason = known ? "is no regular file" : reason_of(errno);
    ::close(descriptor_);
    refuse_file(name_, "cannot read: " + reason);
  }
  bytes_ = static_cast<std::uint64_t>(state.st_size);
  ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

void InputFile::read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) const {
  read_all(descriptor_, name_, offset, to, bytes);
}

// --- OutputFile ---

OutputFile::OutputFile(std::string name, std::uint64_t bytes)
    : name_(std::move(name)), target_(name_) {
  struct stat old {};
  const bool exists = ::stat(name_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) refuse(EISDIR);
  if (exists && ::access(name_.c_str(), W_OK) != 0) refuse(errno);
  in_place_ = exists && !S_ISREG(old.st_mode);
  if (in_place_) {
    descriptor_ = ::open(name_.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor_ < 0) refuse(errno);
    return;
  }
  std::error_code fault;
  if (exists) target_ = std::filesystem::canonical(name_, fault).string();
  if (fault) refuse(fault.value());
  const std::string folder = std::filesystem::path(target_).parent_path().string();
  open_beside(folder.empty() ? "." : folder);
  if (exists) (void)::fchmod(descriptor_, old.st_mode & 07777U);
  if (bytes == 0 || ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0) return;
  const int why = errno;
  if (why == ENOSPC || why == EFBIG || why == EDQUOT) {
    ::close(descriptor_);
    refuse(why);
  }
}

void OutputFile::open_beside(const std::string& folder) {
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) refuse(errno);
  temporary_.set(fmt::format("{}/.espalier-{}", folder, ::getpid()));
  descriptor_ = ::open(temporary_.get().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse(errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::refuse(int reason) const {
  refuse_file(name_, "cannot write: " + reason_of(reason));
}

void OutputFile::write_at(std::uint64_t offset, const std::byte* from, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t put = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) refuse(errno);
    offset += static_cast<std::uint64_t>(put);
    from += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

void OutputFile::read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) const {
  read_all(descriptor_, name_, offset, to, bytes);
}

void OutputFile::sync() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) refuse(errno);
}

void OutputFile::commit() {
  if (in_place_) return;
  if (!temporary_.is_set()) {
    // rename() replaces what is there, linkat() does not: so a name beside it first.
    const std::string folder = std::filesystem::path(target_).parent_path().string();
    temporary_.set(fmt::format("{}/.espalier-{}", folder.empty() ? "." : folder, ::getpid()));
    ::unlink(temporary_.get().c_str());
    const std::string by_number = fmt::format("/proc/self/fd/{}", descriptor_);
    if (::linkat(AT_FDCWD, by_number.c_str(), AT_FDCWD, temporary_.get().c_str(),
                 AT_SYMLINK_FOLLOW) != 0) {
      refuse(errno);
    }
  }
  if (::rename(temporary_.get().c_str(), target_.c_str()) != 0) refuse(errno);
  temporary_.forget();
  if (::close(std::exchange(descriptor_, -1)) != 0) refuse(errno);
}

// --- stores ---

FileStore::FileStore(const Broadcast::StreamShape& shape)
    : shape_(shape),
      room_(std::make_unique_for_overwrite<std::byte[]>(shape.slice_bytes * shape.slices_per_tree *
                                                        shape.trees)) {}

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
  checksum_.add(slice.offset, {room_for(slice), slice.bytes});
}

void FileSource::load(const Slice& slice) {
  attempt([&] {
    std::byte* const room = room_for(slice);
    in_->read_at(slice.offset, room, slice.bytes);
    add_to_checksum(slice);
    if (out_ != nullptr) out_->write_at(slice.offset, room, slice.bytes);
  });
}

void FileSink::arrived(const Slice& slice) {
  attempt([&] {
    add_to_checksum(slice);
    out_->write_at(slice.offset, room_for(slice), slice.bytes);
  });
}

std::uint64_t checksum_of(const OutputFile& file, std::uint64_t bytes, std::uint64_t slice_bytes) {
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
