// Slices of a file: read on the source, written elsewhere, in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/broadcast.hpp"
#include "runtime/checksum.hpp"
#include "runtime/slices.hpp"
#include "runtime/temporary_names.hpp"

namespace espalier::runtime {

// A file that is read at any place. Throws InputError (file and the system's reason).
class InputFile {
 public:
  explicit InputFile(std::string name);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) const;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

// A file that comes into being as a whole or not at all: until commit() it has no name (O_TMPFILE),
// so that nothing is left behind even by a process that is killed; where the file system knows no
// such files, a temporary name beside it, which a program that is ended by a signal removes after
// remove_temporaries_on_signals(), but for SIGKILL. Devices and the like are written in place.
// Throws InputError.
class OutputFile {
 public:
  // Claims room for `bytes` where the file system can, so that a full disk is found before anything
  // is sent.
  OutputFile(std::string name, std::uint64_t bytes);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;

  void write_at(std::uint64_t offset, const std::byte* from, std::size_t bytes);
  // What is in the file now.
  void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) const;
  // Everything to the disk; what a network file system or a delayed allocation has to complain of,
  // it says here.
  void sync();
  // Gives the file its name, replacing what had it.
  void commit();

 private:
  void open_beside(const std::string& folder);
  [[noreturn]] void refuse(int reason) const;

  std::string name_;
  std::string target_;       // with symbolic links followed
  TemporaryName temporary_;  // its name meanwhile, where it has one
  int descriptor_ = -1;
  bool in_place_ = false;
};

// The windows' room, and what the stores of files have in common.
class FileStore : public SliceStore {
 public:
  explicit FileStore(const Broadcast::StreamShape& shape);
  [[nodiscard]] std::uint64_t slices_per_tree() const override { return shape_.slices_per_tree; }
  std::byte* room_for(const Slice& slice) override;
  [[nodiscard]] bool failed() const override { return !failure_.empty(); }
  // Why it failed; empty: it did not.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] std::uint64_t checksum() const { return checksum_.value(); }

 protected:
  // Does `act` unless something failed before, and notes an InputError as the failure.
  template <class Act>
  void attempt(const Act& act);
  void add_to_checksum(const Slice& slice);

 private:
  Broadcast::StreamShape shape_;
  std::unique_ptr<std::byte[]> room_;
  MessageChecksum checksum_;
  std::string failure_;
};

// The source's: reads `in`, and writes `out` as well unless that is null.
class FileSource : public FileStore {
 public:
  FileSource(const Broadcast::StreamShape& shape, const InputFile& in, OutputFile* out)
      : FileStore(shape), in_(&in), out_(out) {}
  void load(const Slice& slice) override;

 private:
  const InputFile* in_;
  OutputFile* out_;
};

// The others': writes `out`.
class FileSink : public FileStore {
 public:
  FileSink(const Broadcast::StreamShape& shape, OutputFile& out) : FileStore(shape), out_(&out) {}
  void arrived(const Slice& slice) override;

 private:
  OutputFile* out_;
};

// The checksum that a store of `slice_bytes` slices has of these bytes, from what is in the file.
std::uint64_t checksum_of(const OutputFile& file, std::uint64_t bytes, std::uint64_t slice_bytes);

}  // namespace espalier::runtime
