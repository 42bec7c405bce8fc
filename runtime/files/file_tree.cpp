#include "runtime/files/file_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

#include "runtime/memory/checksum.hpp"
#include "support/errors.hpp"
#include "support/json.hpp"

namespace espalier::runtime {
namespace {

namespace fs = std::filesystem;
using FileKind = FileTree::Kind;

// Enough for the trees of a plan, whose current segments are close together.
constexpr std::size_t kOpenAtOnce = 32;

// Only a file with fewer blocks than bytes can have holes. At most `left` of them, which are
// subtracted. A hole that is filled from now on gives the file other times than `state`.
std::vector<ByteRange> find_holes(const std::string& name, const struct stat& state,
                                  std::size_t& left) {
  constexpr std::uint64_t kBlock = 512;
  const auto bytes = static_cast<std::uint64_t>(state.st_size);
  if (static_cast<std::uint64_t>(state.st_blocks) * kBlock >= bytes) return {};
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) refuse_file(name, "cannot open: " + reason_of(errno));
  const FileStamp stamp = stamp_of(state);
  wait_until_past({&stamp, 1});
  std::vector<ByteRange> holes = layout_of(file.get(), bytes, left).holes;
  left -= holes.size();
  return holes;
}

FileTree::Entry entry_of(const std::string& name, std::string path, bool follow,
                         std::size_t& holes_left) {
  struct stat state {};
  const int fault = follow ? ::stat(name.c_str(), &state) : ::lstat(name.c_str(), &state);
  if (fault != 0) refuse_file(name, "cannot read: " + reason_of(errno));
  FileTree::Entry entry;
  entry.path = std::move(path);
  entry.mode = state.st_mode & 07777U;
  entry.modified_s = state.st_mtim.tv_sec;
  entry.modified_ns = state.st_mtim.tv_nsec;
  if (S_ISREG(state.st_mode)) {
    entry.bytes = static_cast<std::uint64_t>(state.st_size);
    entry.holes = find_holes(name, state, holes_left);
  } else if (S_ISDIR(state.st_mode)) {
    entry.kind = FileKind::kFolder;
  } else if (S_ISLNK(state.st_mode)) {
    entry.kind = FileKind::kLink;
    std::error_code unread;
    entry.target = fs::read_symlink(name, unread).string();
    if (unread) refuse_file(name, "cannot read: " + unread.message());
  } else {
    refuse_file(name, "is not a file, folder or symbolic link");
  }
  return entry;
}

// Adds the contents of folder `name` as entries whose paths begin with `prefix`.
void add_folder(const std::string& name, const std::string& prefix, FileTree& to,
                std::size_t& holes_left) {
  std::vector<std::string> inside;
  std::error_code fault;
  for (fs::directory_iterator it(name, fault), end; !fault && it != end; it.increment(fault)) {
    inside.push_back(it->path().filename().string());
  }
  if (fault) refuse_file(name, "cannot read: " + fault.message());
  std::ranges::sort(inside, [](const std::string& one, const std::string& other) {
    return ::strverscmp(one.c_str(), other.c_str()) < 0;
  });
  for (const std::string& one : inside) {
    const std::string path = fmt::format("{}/{}", name, one);
    to.entries.push_back(entry_of(path, prefix + one, false, holes_left));
    if (to.entries.back().kind == FileKind::kFolder)
      add_folder(path, fmt::format("{}{}/", prefix, one), to, holes_left);
  }
}

std::string last_part(const std::string& name) {
  const fs::path path = fs::path(name).lexically_normal();
  return (path.has_filename() ? path.filename() : path.parent_path().filename()).string();
}

bool is_one_folder(const std::vector<std::string>& names) {
  std::error_code ignored;
  return names.size() == 1 && fs::is_directory(names[0], ignored);
}

}  // namespace

bool stays_below(const std::string& path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string::npos) return false;
  const fs::path parts(path);
  return std::none_of(parts.begin(), parts.end(), [](const fs::path& part) {
    return part == ".." || part == "." || part.empty();
  });
}

FileTree scan_files(const std::vector<std::string>& names) {
  FileTree tree;
  std::size_t holes_left = kMostHoles;
  if (is_one_folder(names)) {
    add_folder(names[0], "", tree, holes_left);
    return tree;
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const std::string part = last_part(name);
    if (part.empty() || part == "..") refuse_file(name, "has no file name to be stored under");
    if (!seen.insert(part).second) {
      refuse_file(name, fmt::format("would be stored as '{}', like another --in", part));
    }
    tree.entries.push_back(entry_of(name, part, true, holes_left));
    if (tree.entries.back().kind == FileKind::kFolder)
      add_folder(name, part + "/", tree, holes_left);
  }
  return tree;
}

std::string to_text(const FileTree& tree) {
  Json entries = Json::array();
  for (const FileTree::Entry& entry : tree.entries) {
    std::vector<std::uint64_t> holes;
    for (const ByteRange& hole : entry.holes) {
      holes.insert(holes.end(), {hole.offset, hole.bytes});
    }
    entries.push_back({entry.path, static_cast<unsigned>(entry.kind), entry.bytes, entry.mode,
                       entry.modified_s, entry.modified_ns, entry.target, holes});
  }
  const std::vector<std::uint8_t> packed = Json::to_msgpack(entries);  // names need not be UTF-8
  return {packed.begin(), packed.end()};
}

// Holes of a file of `bytes` bytes: in order, and within it.
std::vector<ByteRange> holes_of(const Json& numbers, std::uint64_t bytes) {
  const auto list = numbers.get<std::vector<std::uint64_t>>();
  std::vector<ByteRange> holes;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
    const ByteRange hole{list[i], list[i + 1]};
    if (hole.offset < end || hole.offset > bytes || hole.bytes > bytes - hole.offset) {
      throw InputError("the list of files is damaged: a hole is not within its file");
    }
    end = hole.offset + hole.bytes;
    holes.push_back(hole);
  }
  return holes;
}

FileTree file_tree_from_text(const std::string& text) {
  FileTree tree;
  try {
    for (const Json& entry : Json::from_msgpack(text)) {
      tree.entries.push_back({entry.at(0).get<std::string>(),
                              static_cast<FileKind>(entry.at(1).get<unsigned>()),
                              entry.at(2).get<std::uint64_t>(), entry.at(3).get<std::uint32_t>(),
                              entry.at(4).get<std::int64_t>(), entry.at(5).get<std::int64_t>(),
                              entry.at(6).get<std::string>(),
                              holes_of(entry.at(7), entry.at(2).get<std::uint64_t>())});
    }
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("the list of files is damaged: {}", error.what()));
  }
  for (const FileTree::Entry& entry : tree.entries) {
    if (entry.kind > FileKind::kLink || !stays_below(entry.path)) {
      throw InputError(printable(entry.path), {}, "is not a path below the output's folder");
    }
  }
  return tree;
}

FileSequence sequence_of(const FileTree& tree) {
  FileSequence sequence;
  for (std::size_t i = 0; i < tree.entries.size(); ++i) {
    const FileTree::Entry& entry = tree.entries[i];
    sequence.add(i, {entry.bytes, entry.holes});
  }
  return sequence;
}

// --- OpenFiles ---

OpenFiles::Open& OpenFiles::file(std::size_t entry, const std::string& path, int flags) {
  const auto found = std::ranges::find(open_, entry, &Open::entry);
  if (found != open_.end()) {
    open_.splice(open_.begin(), open_, found);
    return open_.front();
  }
  if (open_.size() >= kOpenAtOnce) open_.pop_back();
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) refuse_file(path, "cannot open: " + reason_of(errno));
  open_.push_front({entry, std::move(file), {}, {}});
  return open_.front();
}

// --- InputTree ---

InputTree::InputTree(const std::vector<std::string>& names, FileTree tree)
    : tree_(std::move(tree)), sequence_(sequence_of(tree_)) {
  const bool one_folder = is_one_folder(names);
  for (const FileTree::Entry& entry : tree_.entries) {
    if (one_folder) {
      paths_.push_back(names[0] + "/" + entry.path);
      continue;
    }
    const std::size_t slash = entry.path.find('/');
    const std::string first = entry.path.substr(0, slash);
    const auto name = std::ranges::find(names, first, last_part);
    const std::string rest = slash == std::string::npos ? "" : entry.path.substr(slash);
    paths_.push_back((rest.empty() ? fs::canonical(*name).string() : *name) + rest);
  }
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const FileTree::Entry& entry = tree_.entries[i];
    FileStamp stamp = stamp_of(paths_[i], false);
    if (entry.kind == FileKind::kFile) {  // it may have changed since it was scanned
      stamp.bytes = entry.bytes;
      stamp.modified_s = entry.modified_s;
      stamp.modified_ns = entry.modified_ns;
    }
    stamps_.push_back(stamp);
  }
  wait_until_past(stamps_);
}

std::uint64_t InputTree::identity() const {
  const std::string text = to_text(tree_);
  return hash_of(std::as_bytes(std::span(text)));
}

std::optional<SourceChange> InputTree::change() const {
  std::optional<SourceChange> change;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (tree_.entries[i].kind == FileKind::kFolder) continue;
    compare(paths_[i], stamps_[i], false, change);
  }
  return change;
}

void InputTree::read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) {
  for (const auto& [entry, from, at, here] : sequence_.parts_of(offset, bytes)) {
    OpenFiles::Open& file = open_.file(entry, paths_[entry], O_RDONLY);
    file.ahead.reached(file.descriptor.get(), from);
    read_all(file.descriptor.get(), paths_[entry], from, to + at, here);
  }
}

// --- OutputTree ---

OutputTree::OutputTree(std::string name, FileTree tree, std::optional<std::uint64_t> resume)
    : name_(std::move(name)), tree_(std::move(tree)), sequence_(sequence_of(tree_)) {
  std::error_code fault;
  if (fs::exists(name_, fault) && !(fs::is_directory(name_, fault) && fs::is_empty(name_, fault))) {
    refuse_file(name_, "cannot write: exists; several files need a new or empty folder");
  }
  fs::path target = fs::path(name_).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  std::string staging = kept_name(target.string());
  if (resume) {
    record_.emplace(staging + ".progress", *resume);
    // Recorded when all entries had been made.
    if (!record_->is_new() && fs::is_directory(staging, fault)) {
      staging_ = std::move(staging);
      make_writable();
      return;
    }
    fs::remove_all(staging, fault);
  } else {
    staging.replace(staging.size() - std::string_view("part").size(), std::string::npos,
                    std::to_string(::getpid()));
  }
  if (::mkdir(staging.c_str(), 0700) != 0) refuse_file(name_, "cannot write: " + reason_of(errno));
  staging_ = std::move(staging);
  try {
    make_entries();
    if (record_) record_->write(0);
  } catch (...) {
    remove();
    throw;
  }
}

OutputTree::~OutputTree() {
  if (!record_) remove();
}

std::string OutputTree::path_of(std::size_t entry) const {
  return staging_ + "/" + tree_.entries[entry].path;
}

void OutputTree::make_entries() {
  for (std::size_t i = 0; i < tree_.entries.size(); ++i) {
    const FileTree::Entry& entry = tree_.entries[i];
    const std::string path = path_of(i);
    int fault = 0;
    if (entry.kind == FileKind::kFolder) {
      fault = ::mkdir(path.c_str(), 0700);
    } else if (entry.kind == FileKind::kLink) {
      fault = ::symlink(entry.target.c_str(), path.c_str());
    } else {
      reserve_space(open_.file(i, path, O_RDWR | O_CREAT | O_EXCL).descriptor.get(), path,
                    {entry.bytes, entry.holes});
    }
    if (fault != 0) refuse_file(path, "cannot write: " + reason_of(errno));
  }
}

void OutputTree::write_at(std::uint64_t offset, const std::byte* from, std::size_t bytes) {
  for (const auto& [entry, to, at, here] : sequence_.parts_of(offset, bytes)) {
    const std::string path = path_of(entry);
    OpenFiles::Open& file = open_.file(entry, path, O_RDWR);
    write_all(file.descriptor.get(), path, to, from + at, here);
    file.behind.wrote(file.descriptor.get(), to, here);
  }
}

void OutputTree::read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) {
  for (const auto& [entry, from, at, here] : sequence_.parts_of(offset, bytes)) {
    const std::string path = path_of(entry);
    read_all(open_.file(entry, path, O_RDWR).descriptor.get(), path, from, to + at, here);
  }
}

void OutputTree::sync() {
  open_.close_all();
  finish_entries();
  const Descriptor folder(::open(staging_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || ::syncfs(folder.get()) != 0) {
    refuse_file(name_, "cannot write: " + reason_of(errno));
  }
}

// From the last entry to the first, so that a folder is finished after its contents.
void OutputTree::finish_entries() {
  for (std::size_t i = tree_.entries.size(); i-- > 0;) {
    const FileTree::Entry& entry = tree_.entries[i];
    const std::string path = path_of(i);
    const std::array<timespec, 2> times = {
        {{0, UTIME_OMIT}, {entry.modified_s, entry.modified_ns}}};
    const bool fine = (entry.kind == FileKind::kLink || ::chmod(path.c_str(), entry.mode) == 0) &&
                      ::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) == 0;
    if (!fine) refuse_file(path, "cannot write: " + reason_of(errno));
  }
}

void OutputTree::commit() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::chmod(staging_.c_str(), 0777U & ~mask) != 0 ||
      ::rename(staging_.c_str(), name_.c_str()) != 0) {
    refuse_file(name_, "cannot write: " + reason_of(errno));
  }
  staging_.clear();
  if (record_) record_->remove();
}

// After finish_entries().
void OutputTree::make_writable() const noexcept {
  for (std::size_t i = 0; i < tree_.entries.size(); ++i) {
    const bool is_link = tree_.entries[i].kind == FileKind::kLink;
    if (!is_link) (void)::chmod(path_of(i).c_str(), 0700);
  }
}

void OutputTree::remove() noexcept {
  if (staging_.empty()) return;
  open_.close_all();
  make_writable();
  std::error_code ignored;
  fs::remove_all(staging_, ignored);
}

}  // namespace espalier::runtime
