// Several files, or a folder, as one message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/files/files.hpp"

namespace espalier::runtime {

// What is to be sent, without the bytes: what the ranks must know before they come.
struct FileTree {
  enum class Kind : std::uint8_t { kFile, kFolder, kLink };
  struct Entry {
    std::string path{};  // relative, below the output's folder; folders before what is in them
    Kind kind = Kind::kFile;
    std::uint64_t bytes = 0;      // of a file
    std::uint32_t mode = 0;       // permission bits of a file or folder
    std::int64_t modified_s = 0;  // since 1970, with nanoseconds
    std::int64_t modified_ns = 0;
    std::string target{};  // of a symbolic link
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;

  [[nodiscard]] std::uint64_t bytes() const;
  bool operator==(const FileTree&) const = default;
};

// One folder: what is in it, at any depth. Otherwise each of the names under its last part, folders
// with what is in them. In the order of the names, each folder's sorted. Symbolic links below a
// name stay links. Throws InputError: what is no file, folder or link; two names that end alike.
FileTree scan_files(const std::vector<std::string>& names);

// For sending it along. from_text throws InputError, also for a path that leads out of the output's
// folder.
std::string to_text(const FileTree& tree);
FileTree file_tree_from_text(const std::string& text);

// Files of a tree one after another.
class FileSequence {
 public:
  explicit FileSequence(const FileTree& tree);
  struct Part {
    std::size_t entry;     // whose file it is
    std::uint64_t offset;  // in that file
    std::size_t at;        // in the stretch that was asked for
    std::size_t bytes;
  };
  // Where the bytes [offset, offset + bytes) are.
  [[nodiscard]] std::vector<Part> parts_of(std::uint64_t offset, std::size_t bytes) const;

 private:
  std::vector<std::pair<std::uint64_t, std::size_t>> ends_;  // of every file with bytes; its entry
};

// The few files that are open at a time: segments come nearly in order.
class OpenFiles {
 public:
  OpenFiles() = default;
  ~OpenFiles();
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;
  OpenFiles(OpenFiles&&) = delete;
  OpenFiles& operator=(OpenFiles&&) = delete;

  struct Open {
    std::size_t entry;
    int descriptor;
    ReadAhead ahead;
    WriteBehind behind;
  };
  // Valid until the next call. flags: of open(2).
  Open& file(std::size_t entry, const std::string& path, int flags);
  void close_all();

 private:
  std::list<Open> open_;  // most recently used first
};

class InputTree : public ByteSource {
 public:
  // names: as for scan_files, which made `tree`.
  InputTree(const std::vector<std::string>& names, FileTree tree);
  [[nodiscard]] std::uint64_t bytes() const override { return tree_.bytes(); }
  [[nodiscard]] std::uint64_t identity() const override;
  void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) override;

 private:
  std::vector<std::string> paths_;  // one an entry
  FileTree tree_;
  FileSequence sequence_;
  OpenFiles open_;
};

// A folder that gets its name when everything is in it. It must not exist before, or be empty. A
// process that is killed leaves `.espalier-NAME.PID` beside it; to be resumed, any run that breaks
// off leaves `.espalier-NAME.part`.
class OutputTree : public ByteTarget {
 public:
  // Makes all folders and files, and claims room for their bytes. resume: the source's identity.
  OutputTree(std::string name, FileTree tree, std::optional<std::uint64_t> resume = {});
  ~OutputTree() override;
  OutputTree(const OutputTree&) = delete;
  OutputTree& operator=(const OutputTree&) = delete;
  OutputTree(OutputTree&&) = delete;
  OutputTree& operator=(OutputTree&&) = delete;

  void write_at(std::uint64_t offset, const std::byte* from, std::size_t bytes) override;
  void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) override;
  void sync() override;
  // Sets times and permissions, and renames.
  void commit() override;

 private:
  [[nodiscard]] std::string path_of(std::size_t entry) const;
  void make_entries();
  void finish_entries();
  void remove() noexcept;

  std::string name_;
  std::string staging_;  // the folder's name meanwhile; empty: committed
  FileTree tree_;
  FileSequence sequence_;
  OpenFiles open_;
};

}  // namespace espalier::runtime
