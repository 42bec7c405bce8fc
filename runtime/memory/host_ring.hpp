// Memory that ranks of one host share, through which one of them hands segments to others.
//
// MPI carries a message to another process of the host by a copy that the kernel makes, page by
// page, once for each receiver. Here the writer copies a segment into the ring, cell by cell, and
// each reader copies it from there: one copy more, but without a call to the kernel, and a reader
// that has been put aside finds many cells at once.
//
// The ring has one writer. Every reader reads every cell; a cell is written again when all have.
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

// Memory without a name, which ends with the last process that has it.
class SharedMemory {
 public:
  // Throws std::system_error. Zeroes.
  static SharedMemory create(std::size_t bytes);
  // That of another process of this user's: its descriptor `descriptor`. Throws std::system_error,
  // also where the memory has another size.
  static SharedMemory attach(pid_t process, int descriptor, std::size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] std::byte* data() const { return data_; }
  // What others attach by, until it is closed. The memory stays.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  void close_descriptor() noexcept;

 private:
  // Throws with errno where there is no descriptor.
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

  // What a cell holds: some bytes of one segment.
  struct Head {
    std::uint64_t nth;     // the segment, of its tree's
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
  // In memory of that size, zero at first. reader: whose cells next() and pass() mean, below
  // `readers`; the writer has none.
  HostRing(SharedMemory memory, std::size_t readers, std::optional<std::size_t> reader);

  // --- the writer's ---
  [[nodiscard]] bool has_free_cell();
  // There is room: where the next cell's bytes go; then the cell is everybody's.
  [[nodiscard]] std::byte* free_cell() const { return cell(passed_); }
  void write(const Head& head);
  // Whom a full ring waits for.
  [[nodiscard]] std::size_t slowest_reader() const;

  // --- a reader's ---
  // The oldest cell that it has not passed, if one has been written.
  [[nodiscard]] std::optional<Cell> next() const;
  void pass();

  // Says that two processes mean the same ring.
  [[nodiscard]] std::uint64_t& token() { return control_->token; }
  void close_descriptor() noexcept { memory_.close_descriptor(); }

 private:
  using Count = std::atomic<std::uint64_t>;
  static_assert(Count::is_always_lock_free);
  static constexpr std::size_t kLine = 64;  // nobody's writing disturbs another's reading
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
  std::span<Line> read_;  // by each reader
  Head* heads_;
  std::byte* cells_;
  std::optional<std::size_t> reader_;
  std::uint64_t passed_ = 0;  // cells that this process has written or read
  std::uint64_t oldest_ = 0;  // the writer: cells that all readers had passed when it last looked
};

// A rank's rings.
struct HostRings {
  std::vector<int> readers;         // of its own ring, ranks
  std::optional<HostRing> written;  // its own; unset: it has no readers
  struct Read {
    int writer;  // rank
    HostRing ring;
  };
  std::vector<Read> read;
};

// Collective. readers_of: for each rank of comm those that read from it, all on its host; equal on
// all ranks. Null, on all ranks of a host, where one of them can have no such memory, and where no
// rank reads from another. Throws MpiError.
std::unique_ptr<HostRings> share_rings(MPI_Comm comm, std::span<const std::vector<int>> readers_of);

}  // namespace espalier::runtime
