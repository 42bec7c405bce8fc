// Shared memory through which a rank passes segments to other ranks of its host. The ring has one
// writer. Every reader reads every cell; a cell is reused when all readers have read it. Why:
// docs/engine.md.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace espalier::runtime {

// Anonymous shared memory, which is freed when the last process unmaps it.
class SharedMemory {
 public:
  // Zero-initialised. Throws std::system_error.
  static SharedMemory create(std::size_t bytes);
  // Attaches the memory of another process of the same user, by that process's descriptor. Throws
  // std::system_error, also if the memory has another size.
  static SharedMemory attach(pid_t process, int descriptor, std::size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] std::byte* data() const { return data_; }
  // The descriptor by which others attach, until it is closed. Closing keeps the memory.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  void close_descriptor() noexcept;

 private:
  // Throws with errno if the descriptor is negative.
  SharedMemory(int descriptor, const char* doing);
  void map(std::size_t bytes);

  int descriptor_ = -1;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

class HostRing {
 public:
  static constexpr std::size_t kCellBytes = std::size_t{64} << 10U;
  static constexpr std::uint64_t kCells = 32;

  // The header of a cell, which holds some bytes of one segment.
  struct Head {
    std::uint64_t nth;     // the segment's number in its tree
    std::uint64_t offset;  // in the segment
    std::uint64_t segment_bytes;
    std::uint32_t tree;
    std::uint32_t bytes;  // at most kCellBytes
  };
  struct Cell {
    Head head;
    const std::byte* bytes;
  };

  [[nodiscard]] static std::size_t memory_for(std::size_t readers);
  // memory: of that size, zero at first. reader: index of the reader that uses this object, below
  // `readers`; unset for the writer.
  HostRing(SharedMemory memory, std::size_t readers, std::optional<std::size_t> reader);

  // --- for the writer ---
  [[nodiscard]] bool has_free_cell();
  // Precondition: has_free_cell(). The buffer for the next cell's bytes; write() then publishes it
  // to all readers.
  [[nodiscard]] std::byte* free_cell() const { return cell(passed_); }
  void write(const Head& head);
  // The reader that a full ring waits for.
  [[nodiscard]] std::size_t slowest_reader() const;

  // --- for a reader ---
  // The oldest written cell that this reader has not passed, if any.
  [[nodiscard]] std::optional<Cell> next() const;
  void pass();

  // A number by which two processes verify that they use the same ring.
  [[nodiscard]] std::uint64_t& token() { return control_->token; }
  void close_descriptor() noexcept { memory_.close_descriptor(); }

 private:
  using Count = std::atomic<std::uint64_t>;
  static_assert(Count::is_always_lock_free);
  static constexpr std::size_t kLine = 64;  // avoids false sharing
  struct alignas(kLine) Line {
    Count cells;
  };
  struct Control {
    std::uint64_t token;
    Line written;
  };

  [[nodiscard]] std::byte* cell(std::uint64_t count) const {
    return cells_ + count % kCells * kCellBytes;
  }

  SharedMemory memory_;
  Control* control_;
  std::span<Line> read_;  // number of cells read, by each reader
  Head* heads_;
  std::byte* cells_;
  std::optional<std::size_t> reader_;
  std::uint64_t passed_ = 0;  // cells that this process has written or read
  std::uint64_t oldest_ = 0;  // for the writer: cells that all readers had passed at its last check
};

// A rank's rings.
struct HostRings {
  std::vector<int> readers;         // ranks that read its own ring
  std::optional<HostRing> written;  // its own; unset if it has no readers
  struct Read {
    int writer;  // rank
    HostRing ring;
  };
  std::vector<Read> read;
};

// Collective. readers_of: for each rank of comm the ranks that read from it, all on its host; equal
// on all ranks. Returns null, on all ranks of a host, if one of them cannot create or attach the
// memory, or if no rank reads from another. Throws MpiError.
std::unique_ptr<HostRings> share_rings(MPI_Comm comm, std::span<const std::vector<int>> readers_of);

}  // namespace espalier::runtime
