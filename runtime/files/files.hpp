// Files that a message is read from and written to, at any offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/files/file_sequence.hpp"
#include "runtime/files/file_stamp.hpp"
#include "runtime/files/temporary_names.hpp"
#include "support/descriptor.hpp"
#include "support/pinned.hpp"

namespace espalier::runtime {

// Bytes on a disk: those of files, without their holes. All functions here throw InputError (file
// and the system's reason).
class StoredBytes : public Interface {
 public:
  // Reads exactly `bytes` bytes from `offset` on.
  virtual void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) = 0;
};

// The source of a message.
class ByteSource : public StoredBytes {
 public:
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  // A number that changes when the sizes, times or holes of the files change.
  [[nodiscard]] virtual std::uint64_t identity() const = 0;
  // What has changed since the source was opened. Nothing: all bytes read so far are those that the
  // files had then.
  [[nodiscard]] virtual std::optional<SourceChange> change() const = 0;
};

// A file beside an output that survives an interrupted run: records the message's identity, and how
// much of it is written.
class ProgressRecord {
 public:
  // Reads an existing record, or starts a new one if it belongs to another message.
  ProgressRecord(std::string name, std::uint64_t identity);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Whether there was none for this message.
  [[nodiscard]] bool is_new() const { return is_new_; }
  void write(std::uint64_t bytes);
  void remove();

 private:
  std::string name_;
  std::uint64_t identity_;
  std::uint64_t bytes_ = 0;
  bool is_new_ = true;
  Descriptor descriptor_{};
};

// The target of a message. It appears as a whole, by commit(), or not at all.
class ByteTarget : public StoredBytes {
 public:
  virtual void write_at(std::uint64_t offset, const std::byte* from, std::size_t bytes) = 0;
  // Flushes everything to the disk; errors of network file systems and delayed allocation appear
  // here.
  virtual void sync() = 0;
  virtual void commit() = 0;

  // How many bytes from the start an earlier, interrupted run has recorded as written.
  [[nodiscard]] std::uint64_t kept() const { return record_ ? record_->bytes() : 0; }
  // Records that the first `bytes` bytes are written, for a later run if this one is interrupted.
  void keep(std::uint64_t bytes) {
    if (record_) record_->write(bytes);
  }

 protected:
  std::optional<ProgressRecord> record_;  // set with resume
};

// Makes the system read a file ahead of a sequential reader, so that the disk works while segments
// are sent.
class ReadAhead {
 public:
  // Call it when the file has been read up to `offset`.
  void reached(int descriptor, std::uint64_t offset);

 private:
  std::uint64_t asked_ = 0;  // read ahead up to here
};

// Makes the system write out data early, rather than at sync() or when memory is full of it. For
// files that are written approximately in order.
class WriteBehind {
 public:
  void wrote(int descriptor, std::uint64_t offset, std::size_t bytes);

 private:
  std::uint64_t begun_ = 0;    // writing begun up to here
  std::uint64_t written_ = 0;  // bytes since
};

// A regular file.
class InputFile : public ByteSource {
 public:
  explicit InputFile(std::string name);

  [[nodiscard]] std::uint64_t bytes() const override { return sequence_.bytes(); }
  [[nodiscard]] const FileLayout& layout() const { return layout_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] std::uint64_t identity() const override { return identity_; }
  [[nodiscard]] std::optional<SourceChange> change() const override;
  void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) override;

 private:
  std::string name_;
  Descriptor descriptor_{};
  FileStamp stamp_;  // when it was opened
  FileLayout layout_;
  FileSequence sequence_;
  std::uint64_t identity_ = 0;
  ReadAhead ahead_;
};

// A file that has no name until commit() (O_TMPFILE), so that even a killed process leaves nothing
// behind. If the file system does not support this, the file has a temporary name beside the
// target; after remove_temporaries_on_signals(), a program that is ended by a signal other than
// SIGKILL removes it. Devices and other special files are written in place. With resume, its name
// is `.espalier-NAME.part` until commit(), and it stays if the run is interrupted.
class OutputFile : public ByteTarget {
 public:
  // Reserves space where the file system can, so that a full disk is detected before anything is
  // sent; none for holes. resume: the source's identity.
  OutputFile(std::string name, const FileLayout& layout, std::optional<std::uint64_t> resume = {});

  void write_at(std::uint64_t offset, const std::byte* from, std::size_t bytes) override;
  void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) override;
  void sync() override;
  // Gives the file its name, replacing an existing file.
  void commit() override;
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  // With resume: its name until commit().
  [[nodiscard]] const std::string& kept_file() const { return kept_; }
  // Whether it is a device or another special file.
  [[nodiscard]] bool is_in_place() const { return in_place_; }

 private:
  void open_beside(const std::string& folder);
  void open_kept(std::uint64_t identity);
  [[noreturn]] void refuse(int reason) const;

  std::string name_;
  std::string target_;       // name with symbolic links resolved
  TemporaryName temporary_;  // its temporary name, if it has one that must be removed
  std::string kept_;         // or its temporary name that is kept
  FileSequence sequence_;
  Descriptor descriptor_{};
  bool in_place_ = false;
  WriteBehind behind_;
};

// "FOLDER/.espalier-NAME.part" for "FOLDER/NAME".
std::string kept_name(const std::string& target);

// Common functions of all kinds of files. name: for error messages.
[[noreturn]] void refuse_file(const std::string& name, const std::string& reason);
std::string reason_of(int error_number);
void read_all(int descriptor, const std::string& name, std::uint64_t offset, std::byte* to,
              std::size_t bytes);
void write_all(int descriptor, const std::string& name, std::uint64_t offset, const std::byte* from,
               std::size_t bytes);

}  // namespace espalier::runtime
