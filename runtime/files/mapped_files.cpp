#include "runtime/files/mapped_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include "support/descriptor.hpp"

namespace espalier::runtime {
namespace {

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::uint64_t aligned_bytes(std::span<const MappedInputTrees::Named> named,
                            std::uint64_t alignment) {
  std::uint64_t bytes = 0;
  for (const auto& [name, tree] : named) bytes += aligned_bytes(tree, alignment);
  return bytes;
}

// Calls use(entry, offset) for each file that has bytes. Returns the offset after the last.
template <class Use>
std::uint64_t for_each_file(const FileTree& tree, std::uint64_t alignment, const Use& use) {
  std::uint64_t offset = 0;
  for (std::size_t entry = 0; entry < tree.entries.size(); ++entry) {
    const std::uint64_t bytes = tree.entries[entry].bytes;
    if (bytes != 0) use(entry, offset);
    offset += rounded_up(bytes, alignment);
  }
  return offset;
}

// From `begin` on. Returns the offset after the last file.
template <class Tree>
std::uint64_t place_files(Mapping& mapping, std::uint64_t begin, const Tree& tree,
                          std::uint64_t alignment, Mapping::Access access) {
  const bool writes = access == Mapping::Access::kWrite;
  const auto place = [&](std::size_t entry, std::uint64_t offset) {
    const std::string& path = tree.path_of(entry);
    const Descriptor file(
        ::open(path.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file.is_open()) refuse_file(path, "cannot open: " + reason_of(errno));
    mapping.place(begin + offset, file.get(), path, tree.tree().entries[entry].bytes, access);
  };
  return begin + for_each_file(tree.tree(), alignment, place);
}

}  // namespace

Mapping::Mapping(std::uint64_t bytes) {
  if (bytes == 0) return;
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  bytes_ = {static_cast<std::byte*>(at), bytes};
}

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

void Mapping::place(std::uint64_t offset, int descriptor, const std::string& name,
                    std::uint64_t bytes, Access access) {
  if (bytes == 0) return;
  const bool writes = access == Access::kWrite;
  // Also where the file system cannot reserve space: the C library then writes every block.
  const int fault = writes ? ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)) : 0;
  if (fault != 0) refuse_file(name, "cannot write: " + reason_of(fault));
  void* const at =
      ::mmap(bytes_.subspan(offset).data(), bytes, writes ? PROT_READ | PROT_WRITE : PROT_READ,
             MAP_FIXED | (writes ? MAP_SHARED : MAP_PRIVATE), descriptor, 0);
  // A process has some 65,000 mappings (vm.max_map_count).
  if (at == MAP_FAILED && errno == ENOMEM) {
    refuse_file(name, "cannot map so many files into memory; pack them into fewer");
  }
  if (at == MAP_FAILED) refuse_file(name, "cannot map into memory: " + reason_of(errno));
}

MappedInput::MappedInput(const std::string& name) : file_(name), mapping_(file_.layout().bytes) {
  mapping_.place(0, file_.descriptor(), name, file_.layout().bytes, Mapping::Access::kRead);
}

MappedOutput::MappedOutput(const std::string& name, std::uint64_t bytes, std::uint64_t alignment)
    : size_(bytes), file_(name, FileLayout{bytes, {}}), mapping_(rounded_up(bytes, alignment)) {
  if (file_.is_in_place()) {
    collected_ = std::make_unique_for_overwrite<std::byte[]>(mapping_.bytes().size());
  } else {
    mapping_.place(0, file_.descriptor(), name, bytes, Mapping::Access::kWrite);
  }
}

std::span<std::byte> MappedOutput::bytes() const {
  return collected_ ? std::span(collected_.get(), mapping_.bytes().size()) : mapping_.bytes();
}

void MappedOutput::write_collected() {
  if (const auto bytes = std::exchange(collected_, nullptr)) file_.write_at(0, bytes.get(), size_);
}

void MappedOutput::sync() {
  write_collected();
  file_.sync();
}

std::uint64_t page_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t aligned_bytes(const FileTree& tree, std::uint64_t alignment) {
  return for_each_file(tree, alignment, [](std::size_t, std::uint64_t) {});
}

MappedInputTrees::MappedInputTrees(std::span<const Named> named, std::uint64_t alignment)
    : mapping_(aligned_bytes(named, alignment)) {
  std::uint64_t offset = 0;
  for (const auto& [name, tree] : named) {
    trees_.emplace_back(std::vector{name}, tree);
    offset = place_files(mapping_, offset, trees_.back(), alignment, Mapping::Access::kRead);
  }
}

std::optional<SourceChange> MappedInputTrees::change() const {
  for (const InputTree& tree : trees_) {
    if (auto change = tree.change()) return change;
  }
  return std::nullopt;
}

MappedOutputTree::MappedOutputTree(const std::string& name, const FileTree& tree,
                                   std::uint64_t alignment)
    : tree_(name, tree), mapping_(aligned_bytes(tree, alignment)) {
  place_files(mapping_, 0, tree_, alignment, Mapping::Access::kWrite);
}

}  // namespace espalier::runtime
