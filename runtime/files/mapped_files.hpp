// Files whose bytes are in memory as a whole, as far as a program is concerned: the system reads
// and writes them as they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/files/files.hpp"
#include "support/pinned.hpp"

namespace espalier::runtime {

// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class Mapping : public Pinned {
 public:
  enum class Access : std::uint8_t { kRead, kWrite };
  // name: for error messages. Throws InputError.
  Mapping(int descriptor, const std::string& name, std::uint64_t bytes, Access access);
  ~Mapping();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// A regular file to be read, with its holes. If it becomes shorter while its bytes are used, the
// system ends the process (SIGBUS).
class MappedInput {
 public:
  // Throws InputError.
  explicit MappedInput(const std::string& name);
  [[nodiscard]] std::span<std::byte> bytes() const { return mapping_.bytes(); }
  [[nodiscard]] std::optional<SourceChange> change() const { return file_.change(); }

 private:
  InputFile file_;
  Mapping mapping_;
};

// A file to be written. It appears as a whole, by commit(), or not at all.
class MappedOutput {
 public:
  // Reserves its space, so that a full disk is an error here. Throws InputError, std::bad_alloc.
  MappedOutput(const std::string& name, std::uint64_t bytes);
  [[nodiscard]] std::span<std::byte> bytes() const;
  // Writes everything to the disk. Throws InputError.
  void sync();
  void commit() { file_.commit(); }

 private:
  // Devices cannot be mapped: their bytes are collected, and written at the end.
  void write_collected();

  std::uint64_t size_;
  OutputFile file_;
  std::unique_ptr<Mapping> mapping_;
  std::unique_ptr<std::byte[]> collected_;
};

}  // namespace espalier::runtime
