// Files whose bytes are in memory as a whole, as far as a program is concerned: the system reads
// and writes them as they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/files/file_tree.hpp"
#include "runtime/files/files.hpp"
#include "support/pinned.hpp"

namespace espalier::runtime {

// A range of memory that is zero until it is written, and costs memory only then. Files may take
// the place of parts of it.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class Mapping : public Pinned {
 public:
  enum class Access : std::uint8_t { kRead, kWrite };
  // Throws std::bad_alloc.
  explicit Mapping(std::uint64_t bytes);
  ~Mapping();

  // The first `bytes` bytes of a file, from `offset` on, a multiple of the page size. With kWrite,
  // reserves their space, so that a full disk is an error here. name: for error messages. Throws
  // InputError.
  void place(std::uint64_t offset, int descriptor, const std::string& name, std::uint64_t bytes,
             Access access);
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// What a rank sends.
class MappedSource : public Interface {
 public:
  [[nodiscard]] virtual std::span<std::byte> bytes() const = 0;
  // As of ByteSource.
  [[nodiscard]] virtual std::optional<SourceChange> change() const = 0;
};

// A regular file to be read, with its holes. If it becomes shorter while its bytes are used, the
// system ends the process (SIGBUS).
class MappedInput : public MappedSource {
 public:
  // Throws InputError.
  explicit MappedInput(const std::string& name);
  [[nodiscard]] std::span<std::byte> bytes() const override { return mapping_.bytes(); }
  [[nodiscard]] std::optional<SourceChange> change() const override { return file_.change(); }

 private:
  InputFile file_;
  Mapping mapping_;
};

// What a rank receives. It appears as a whole, by commit(), or not at all.
class MappedTarget : public Interface {
 public:
  [[nodiscard]] virtual std::span<std::byte> bytes() const = 0;
  // Writes everything to the disk. Throws InputError.
  virtual void sync() = 0;
  virtual void commit() = 0;
};

// A file to be written.
class MappedOutput : public MappedTarget {
 public:
  // Followed in memory by zeros up to a multiple of the alignment, which is itself one of the page
  // size, or 1. Throws InputError, std::bad_alloc.
  MappedOutput(const std::string& name, std::uint64_t bytes, std::uint64_t alignment = 1);
  [[nodiscard]] std::span<std::byte> bytes() const override;
  void sync() override;
  void commit() override { file_.commit(); }

 private:
  // Devices cannot be mapped: their bytes are collected, and written at the end.
  void write_collected();

  std::uint64_t size_;
  OutputFile file_;
  Mapping mapping_;
  std::unique_ptr<std::byte[]> collected_;
};

// --- Files of trees: each begins at a multiple of an alignment, because files are mapped by pages.
// Zeros lie between them. ---

// Of all ranks' page sizes, the alignment must be a multiple.
std::uint64_t page_bytes();
// The memory of a tree's files.
std::uint64_t aligned_bytes(const FileTree& tree, std::uint64_t alignment);

// The files of some trees, one tree after the other.
class MappedInputTrees : public MappedSource {
 public:
  struct Named {
    std::string name;  // as for scan_files, which made `tree`
    FileTree tree;     // without holes
  };
  // Throws InputError, std::bad_alloc.
  MappedInputTrees(std::span<const Named> named, std::uint64_t alignment);
  [[nodiscard]] std::span<std::byte> bytes() const override { return mapping_.bytes(); }
  [[nodiscard]] std::optional<SourceChange> change() const override;

 private:
  std::list<InputTree> trees_;
  Mapping mapping_;
};

class MappedOutputTree : public MappedTarget {
 public:
  // tree: without holes. Throws as OutputTree, and std::bad_alloc.
  MappedOutputTree(const std::string& name, const FileTree& tree, std::uint64_t alignment);
  [[nodiscard]] std::span<std::byte> bytes() const override { return mapping_.bytes(); }
  void sync() override { tree_.sync(); }
  void commit() override { tree_.commit(); }

 private:
  OutputTree tree_;
  Mapping mapping_;
};

}  // namespace espalier::runtime
