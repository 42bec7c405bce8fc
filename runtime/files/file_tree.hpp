// Several files, or a folder, sent as one message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "runtime/files/files.hpp"

namespace espalier::runtime {

// The metadata of one or more files, which the ranks need before the contents arrive.
struct FileTree {
  enum class Kind : std::uint8_t { kFile, kFolder, kLink };
  struct Entry {
    std::string path{};  // relative, below the output's folder; folders precede their contents
    Kind kind = Kind::kFile;
    std::uint64_t bytes = 0;      // of a file
    std::uint32_t mode = 0;       // permission bits of a file or folder
    std::int64_t modified_s = 0;  // since 1970, with nanoseconds
    std::int64_t modified_ns = 0;
    std::string target{};            // of a symbolic link
    std::vector<ByteRange> holes{};  // of a file
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;

  bool operator==(const FileTree&) const = default;
};

// For a single folder: its contents, at any depth. Otherwise each name, stored under its last
// component, folders with their contents. In the order of the names; each folder's contents are
// sorted, numbers in names by value ("part.2" before "part.10"). Symbolic links below a name stay
// links. Throws InputError for anything other than a file, folder or link, and for two names with
// the same last component.
FileTree scan_files(const std::vector<std::string>& names);

// Whether the path is relative and has no "..", so that it leads nowhere else.
bool stays_below(const std::string& path);

// Serialisation. file_tree_from_text throws InputError, also for a path that leads out of the
// output's folder.
std::string to_text(const FileTree& tree);
FileTree file_tree_from_text(const std::string& text);

// The files of a tree, numbered by their entries.
FileSequence sequence_of(const FileTree& tree);

// A few files that are open at a time, which suffices because segments arrive nearly in order.
class OpenFiles {
 public:
  struct Open {
    std::size_t entry;
    Descriptor descriptor;
    ReadAhead ahead;
    WriteBehind behind;
  };
  // Valid until the next call. flags: of open(2).
  Open& file(std::size_t entry, const std::string& path, int flags);
  void close_all() { open_.clear(); }

 private:
  std::list<Open> open_;  // most recently used first
};

class InputTree : public ByteSource {
 public:
  // names: as for scan_files, which made `tree`.
  InputTree(const std::vector<std::string>& names, FileTree tree);
  [[nodiscard]] std::uint64_t bytes() const override { return sequence_.bytes(); }
  [[nodiscard]] std::uint64_t identity() const override;
  // Of files and links. Folders may get further entries, which are not sent.
  [[nodiscard]] std::optional<SourceChange> change() const override;
  void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) override;
  [[nodiscard]] const FileTree& tree() const { return tree_; }
  [[nodiscard]] const std::string& path_of(std::size_t entry) const { return paths_[entry]; }

 private:
  std::vector<std::string> paths_;  // one per entry
  std::vector<FileStamp> stamps_;   // one per entry
  FileTree tree_;
  FileSequence sequence_;
  OpenFiles open_;
};

// A folder that gets its name when it is complete. A folder of that name must not exist, or must be
// empty. A process that is killed leaves `.espalier-NAME.PID` beside it; with resume, an
// interrupted run leaves `.espalier-NAME.part`.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Interface deletes the others
class OutputTree : public ByteTarget {
 public:
  // Creates all folders and files, and reserves disk space for all but their holes. resume: the
  // source's identity.
  OutputTree(std::string name, FileTree tree, std::optional<std::uint64_t> resume = {});
  ~OutputTree() override;

  void write_at(std::uint64_t offset, const std::byte* from, std::size_t bytes) override;
  void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) override;
  void sync() override;
  // Sets times and permissions, and renames.
  void commit() override;
  [[nodiscard]] const FileTree& tree() const { return tree_; }
  // Until commit().
  [[nodiscard]] const std::string& staging() const { return staging_; }
  [[nodiscard]] std::string path_of(std::size_t entry) const;

 private:
  void make_entries();
  void finish_entries();
  void make_writable() const noexcept;
  void remove() noexcept;

  std::string name_;
  std::string staging_;  // the folder's temporary name; empty after commit()
  FileTree tree_;
  FileSequence sequence_;
  OpenFiles open_;
};

}  // namespace espalier::runtime
