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

#include "support/descriptor.hpp"

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
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  void close_descriptor() { descriptor_.close(); }

 private:
  // Throws with errno if the descriptor is negative.
  SharedMemory(int descriptor, const char* doing);
  void map(std::size_t bytes);

  Descriptor descriptor_{};
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

// A ring that ranks of one host use; equal on all ranks.
struct RingPlan {
  int writer = 0;
  std::vector<int> readers{};        // ascending, at least one
  std::vector<std::size_t> trees{};  // that use it, ascending, by their number in the block
  std::uint64_t cells = 0;           // 2 to HostRing::kMostCells
};

class HostRing {
 public:
  static constexpr std::size_t kCellBytes = std::size_t{64} << 10U;
  static constexpr std::uint64_t kMostCells = 32;

  // The header of a cell, which holds some bytes of one segment.
  struct Head {
    std::uint64_t nth;     // the segment's number in its tree
    std::uint64_t offset;  // in the segment
    std::uint64_t segment_bytes;
    std::uint32_t tree;   // its index in the ring's
    std::uint32_t bytes;  // at most kCellBytes
  };
  struct Cell {
    Head head;
    const std::byte* bytes;
  };

  // Whole pages.
  [[nodiscard]] static std::size_t memory_for(const RingPlan& plan);
  // memory: of that size, zero at first; must outlive this object. rank: a reader, or the writer.
  HostRing(std::byte* memory, const RingPlan& plan, int rank);

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

 private:
  using Count = std::atomic<std::uint64_t>;
  static_assert(Count::is_always_lock_free);
  static constexpr std::size_t kLine = 64;  // avoids false sharing
  struct alignas(kLine) Line {
    Count cells;
  };

  [[nodiscard]] std::byte* cell(std::uint64_t count) const {
    return bytes_ + count % cells_ * kCellBytes;
  }

  std::uint64_t cells_;
  Line* written_;
  std::span<Line> read_;  // number of cells read, by each reader
  Head* heads_;
  std::byte* bytes_;
  std::size_t reader_;        // this process's index among the readers
  std::uint64_t passed_ = 0;  // cells that this process has written or read
  std::uint64_t oldest_ = 0;  // for the writer: cells that all readers had passed at its last check
};

// The rings that a rank writes or reads.
struct HostRings {
  std::vector<RingPlan> plans;
  std::vector<SharedMemory> memories;          // of this rank and of those whose rings it reads
  std::vector<std::optional<HostRing>> rings;  // for each of the plans; unset: not this rank's
};

// Collective; the plans' ranks are those of comm. Returns null, on all ranks of a host, if one of
// them cannot create or attach the memory, or if there are no rings. Throws MpiError.
std::unique_ptr<HostRings> share_rings(MPI_Comm comm, std::vector<RingPlan> plans);

}  // namespace espalier::runtime
