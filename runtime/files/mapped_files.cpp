#include "runtime/files/mapped_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

namespace espalier::runtime {

Mapping::Mapping(int descriptor, const std::string& name, std::uint64_t bytes, Access access) {
  if (bytes == 0) return;
  const bool writes = access == Access::kWrite;
  void* const at = ::mmap(nullptr, bytes, writes ? PROT_READ | PROT_WRITE : PROT_READ,
                          writes ? MAP_SHARED : MAP_PRIVATE, descriptor, 0);
  if (at == MAP_FAILED) refuse_file(name, "cannot map into memory: " + reason_of(errno));
  bytes_ = {static_cast<std::byte*>(at), bytes};
}

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

MappedInput::MappedInput(const std::string& name)
    : file_(name),
      mapping_(file_.descriptor(), name, file_.layout().bytes, Mapping::Access::kRead) {}

MappedOutput::MappedOutput(const std::string& name, std::uint64_t bytes)
    : size_(bytes), file_(name, FileLayout{bytes, {}}) {
  if (file_.is_in_place()) {
    collected_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    return;
  }
  // Also where the file system cannot reserve space: the C library then writes every block.
  const int fault =
      bytes == 0 ? 0 : ::posix_fallocate(file_.descriptor(), 0, static_cast<off_t>(bytes));
  if (fault != 0) refuse_file(name, "cannot write: " + reason_of(fault));
  mapping_ = std::make_unique<Mapping>(file_.descriptor(), name, bytes, Mapping::Access::kWrite);
}

std::span<std::byte> MappedOutput::bytes() const {
  return collected_ ? std::span(collected_.get(), size_) : mapping_->bytes();
}

void MappedOutput::write_collected() {
  if (const auto bytes = std::exchange(collected_, nullptr)) file_.write_at(0, bytes.get(), size_);
}

void MappedOutput::sync() {
  write_collected();
  file_.sync();
}

}  // namespace espalier::runtime
