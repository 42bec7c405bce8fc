// Files that a message is read from, and written to, at any place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/files/temporary_names.hpp"

namespace espalier::runtime {

// Bytes on a disk. All here throw InputError (file and the system's reason).
class StoredBytes {
 public:
  StoredBytes() = default;
  virtual ~StoredBytes() = default;
  StoredBytes(const StoredBytes&) = delete;
  StoredBytes& operator=(const StoredBytes&) = delete;
  StoredBytes(StoredBytes&&) = delete;
  StoredBytes& operator=(StoredBytes&&) = delete;

  // Reads all `bytes` bytes from `offset` on.
  virtual void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) = 0;
};

// What a message is read from.
class ByteSource : public StoredBytes {
 public:
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  // Differs when the files have changed, as far as their sizes and times tell.
  [[nodiscard]] virtual std::uint64_t identity() const = 0;
};

// Beside an output that is kept when a run breaks off: of which message it is, and how much of it
// is there.
class ProgressRecord {
 public:
  // Reads what is there, or begins again where that is of another message.
  ProgressRecord(std::string name, std::uint64_t identity);
  ~ProgressRecord();
  ProgressRecord(const ProgressRecord&) = delete;
  ProgressRecord& operator=(const ProgressRecord&) = delete;
  ProgressRecord(ProgressRecord&&) = delete;
  ProgressRecord& operator=(ProgressRecord&&) = delete;

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  void write(std::uint64_t bytes);
  void remove();

 private:
  std::string name_;
  std::uint64_t identity_;
  std::uint64_t bytes_ = 0;
  int descriptor_ = -1;
};

// What a message is written to: it comes into being as a whole, by commit(), or not at all.
class ByteTarget : public StoredBytes {
 public:
  virtual void write_at(std::uint64_t offset, const std::byte* from, std::size_t bytes) = 0;
  // Everything to the disk; what a network file system or a delayed allocation has to complain of,
  // it says here.
  virtual void sync() = 0;
  virtual void commit() = 0;

  // How many of the first bytes an earlier run that broke off has left, as far as it knew.
  [[nodiscard]] std::uint64_t kept() const { return record_ ? record_->bytes() : 0; }
  // The first so many bytes are written: for a later run, should this one break off.
  void keep(std::uint64_t bytes) {
    if (record_) record_->write(bytes);
  }

 protected:
  std::optional<ProgressRecord> record_;  // to be resumed
};

// Has the system read on ahead of who reads a file from its beginning to its end, so that the disk
// works while segments are sent.
class ReadAhead {
 public:
  // descriptor: of a file that was read up to `offset`.
  void reached(int descriptor, std::uint64_t offset);

 private:
  std::uint64_t asked_ = 0;  // up to here
};

// Has the system begin to write out what is written, rather than when the file is synced or memory
// is full of it. For files that are written more or less in order.
class WriteBehind {
 public:
  void wrote(int descriptor, std::uint64_t offset, std::size_t bytes);

 private:
  std::uint64_t begun_ = 0;    // up to here
  std::uint64_t written_ = 0;  // bytes since
};

// A regular file.
class InputFile : public ByteSource {
 public:
  explicit InputFile(std::string name);
  ~InputFile() override;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;

  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }
  [[nodiscard]] std::uint64_t identity() const override { return identity_; }
  void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) override;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
  std::uint64_t identity_ = 0;
  ReadAhead ahead_;
};

// A file that has no name until commit() (O_TMPFILE), so that nothing is left behind even by a
// process that is killed; where the file system knows no such files, a temporary name beside it,
// which a program that is ended by a signal removes after remove_temporaries_on_signals(), but for
// SIGKILL. Devices and the like are written in place. To be resumed, it is `.espalier-NAME.part`
// until then, which stays when a run breaks off.
class OutputFile : public ByteTarget {
 public:
  // Claims room for `bytes` where the file system can, so that a full disk is found before anything
  // is sent. resume: the source's identity.
  OutputFile(std::string name, std::uint64_t bytes, std::optional<std::uint64_t> resume = {});
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;

  void write_at(std::uint64_t offset, const std::byte* from, std::size_t bytes) override;
  void read_at(std::uint64_t offset, std::byte* to, std::size_t bytes) override;
  void sync() override;
  // Gives the file its name, replacing what had it.
  void commit() override;

 private:
  void open_beside(const std::string& folder);
  void open_kept(std::uint64_t identity);
  [[noreturn]] void refuse(int reason) const;

  std::string name_;
  std::string target_;       // with symbolic links followed
  TemporaryName temporary_;  // its name meanwhile, where it has one that is to vanish
  std::string kept_;         // or that stays
  int descriptor_ = -1;
  bool in_place_ = false;
  WriteBehind behind_;
};

// "FOLDER/.espalier-NAME.part" for "FOLDER/NAME".
std::string kept_name(const std::string& target);

// What every kind of file does alike. name: for the refusal.
[[noreturn]] void refuse_file(const std::string& name, const std::string& reason);
std::string reason_of(int error_number);
void read_all(int descriptor, const std::string& name, std::uint64_t offset, std::byte* to,
              std::size_t bytes);
void write_all(int descriptor, const std::string& name, std::uint64_t offset, const std::byte* from,
               std::size_t bytes);
// Claims room for the file's bytes; refuses where there is none, does nothing where it cannot know.
void reserve_space(int descriptor, const std::string& name, std::uint64_t bytes);

}  // namespace espalier::runtime
