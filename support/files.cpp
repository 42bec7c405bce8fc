#include "support/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "support/descriptor.hpp"
#include "support/errors.hpp"
#include "support/pinned.hpp"
#include "support/quantities.hpp"

namespace espalier {

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18U;

// Removes a temporary file unless it was renamed.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class Unlinker : public Pinned {
 public:
  explicit Unlinker(std::string path) : path_(std::move(path)) {}
  ~Unlinker() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

std::string system_reason(int number) {
  return std::generic_category().message(number);
}

[[noreturn]] void refuse(const std::string& file, const std::string& what, int number) {
  throw InputError(file, {}, what + ": " + system_reason(number));
}

std::string read_all(int descriptor, std::size_t expected, const std::string& name) {
  std::string text;
  std::size_t used = 0;
  text.resize(expected +
              1);  // one more, so that one read finds the end of a file of the expected size
  while (true) {
    if (used == text.size()) text.resize(text.size() + std::max(kChunk, text.size() / 2));
    const ssize_t got = ::read(descriptor, text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(name, "cannot read", errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > kMaxInputBytes) {
      throw InputError(name, {}, "larger than " + format_size({kMaxInputBytes}));
    }
  }
  text.resize(used);
  return text;
}

bool write_all(int descriptor, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t put = ::write(descriptor, contents.data(), contents.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    contents.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

bool synced(int descriptor) {
  // Some file systems have nothing to sync and say so.
  return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
}

void write_in_place(const std::string& file, std::string_view contents) {
  Descriptor out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (out.get() < 0) refuse(file, "cannot write", errno);
  if (!write_all(out.get(), contents) || !out.close()) refuse(file, "cannot write", errno);
}

void write_to_stdout(std::string_view contents) {
  std::fflush(stdout);
  if (!write_all(STDOUT_FILENO, contents)) refuse("<stdout>", "cannot write", errno);
}

// The name is short, so that a temporary file is possible even if the target's name has the
// greatest length.
std::string temporary_beside(const std::string& target, int attempt) {
  const std::filesystem::path folder = std::filesystem::path(target).parent_path();
  return (folder / (".espalier-" + std::to_string(::getpid()) + "-" + std::to_string(attempt)))
      .string();
}

void write_beside_and_rename(const std::string& file, const std::string& target,
                             std::string_view contents, const struct stat* old_state) {
  constexpr int kAttempts = 100;
  std::string temporary;
  int number = -1;
  for (int attempt = 0; attempt < kAttempts && number < 0; ++attempt) {
    temporary = temporary_beside(target, attempt);
    number = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number < 0 && errno != EEXIST) break;
  }
  if (number < 0) refuse(file, "cannot write", errno);
  Descriptor out(number);
  Unlinker unlinker(temporary);
  if (old_state != nullptr && ::fchmod(out.get(), old_state->st_mode & 07777U) != 0) {
    refuse(file, "cannot write", errno);
  }
  if (!write_all(out.get(), contents) || !synced(out.get()) || !out.close()) {
    refuse(file, "cannot write", errno);
  }
  if (::rename(temporary.c_str(), target.c_str()) != 0) refuse(file, "cannot write", errno);
  unlinker.keep();
}

}  // namespace

std::string display_name(const std::string& file) {
  return file == "-" ? "<stdin>" : file;
}

std::string read_text(const std::string& file) {
  const std::string name = display_name(file);
  if (file == "-") return read_all(STDIN_FILENO, kChunk, name);
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) refuse(name, "cannot open", errno);
  struct stat state {};
  if (::fstat(in.get(), &state) != 0) refuse(name, "cannot read", errno);
  if (S_ISDIR(state.st_mode)) refuse(name, "cannot read", EISDIR);
  const auto size = S_ISREG(state.st_mode) ? static_cast<std::size_t>(state.st_size) : kChunk;
  if (size > kMaxInputBytes) {
    throw InputError(name, {}, "larger than " + format_size({kMaxInputBytes}));
  }
  return read_all(in.get(), size, name);
}

void write_text(const std::string& file, std::string_view contents) {
  if (file == "-") return write_to_stdout(contents);
  if (file.empty()) refuse("''", "cannot write", ENOENT);
  struct stat state {};
  const bool exists = ::stat(file.c_str(), &state) == 0;
  if (exists && S_ISDIR(state.st_mode)) refuse(file, "cannot write", EISDIR);
  if (exists && !S_ISREG(state.st_mode)) return write_in_place(file, contents);
  // rename() checks only the folder's permissions, but a read-only file must not be replaced.
  if (exists && ::access(file.c_str(), W_OK) != 0) refuse(file, "cannot write", errno);
  std::error_code fault;
  // A symbolic link is kept; its target is replaced.
  const std::filesystem::path target =
      exists ? std::filesystem::canonical(file, fault) : std::filesystem::path(file);
  if (fault) refuse(file, "cannot write", fault.value());
  write_beside_and_rename(file, target.string(), contents, exists ? &state : nullptr);
}

}  // namespace espalier
