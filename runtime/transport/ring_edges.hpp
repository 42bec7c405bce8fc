// The transfers of an engine through the host's rings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/transport.hpp"
#include "engine/tree_role.hpp"
#include "runtime/memory/host_ring.hpp"
#include "runtime/transport/transfer_log.hpp"

namespace espalier::runtime {

// A segment counts as sent when all of it is in the ring, and as received when all of it has been
// copied out.
class RingEdges {
 public:
  // transfers: records all segments, unless null.
  RingEdges(std::shared_ptr<HostRings> rings, std::span<const engine::TreeRole> roles,
            TransferLog* transfers);

  void set_windows(std::span<const engine::TreeWindows> windows);
  // A message of `bytes` bytes begins, with segments in units of `unit_bytes`. first_place: of this
  // rank's in the log, after which places() follow.
  void begin(std::uint64_t bytes, std::uint64_t unit_bytes, std::size_t first_place);
  [[nodiscard]] std::size_t places() const { return places_; }
  // The transfer of one segment along a ring edge of this rank, in the segments' order.
  void begin_transfer(const engine::Operation& operation, const engine::Segment& segment,
                      std::byte* buffer);
  [[nodiscard]] bool is_complete(const engine::Operation& operation) const {
    return operation.nth < courses_[course_of(operation)].done;
  }
  // Whether segments have still to pass through a ring that this rank reads or writes.
  [[nodiscard]] bool has_open() const { return open_ != 0; }
  // The rank that an operation waits for, where its ring has several readers.
  [[nodiscard]] int slowest_reader(const engine::Operation& operation) const;
  // Moves a few cells of each ring and appends the transfers that are complete. Returns whether
  // there were any cells.
  bool move(std::vector<engine::Completion>& completions);

 private:
  struct Transfer {
    engine::Operation operation{};
    engine::Segment segment{};  // in bytes
    std::byte* buffer = nullptr;
  };
  // The transfers along one edge.
  struct Course {
    std::size_t ring = 0;    // index into rings_
    std::uint32_t tree = 0;  // its index among the ring's
    std::size_t place = 0;   // the first in the log: one, or one for each reader that it writes to
    std::vector<Transfer> open{1};  // segment n is in place n modulo the size
    std::uint64_t begun = 0;
    std::uint64_t done = 0;
    std::uint64_t bytes = 0;  // of segment `done` that have been moved
    [[nodiscard]] bool is_open() const { return done < begun; }
    [[nodiscard]] const Transfer& oldest() const { return open[done % open.size()]; }
  };
  // A ring that this rank writes or reads.
  struct Ring {
    HostRing* ring;
    const RingPlan* plan;
    bool is_written;
    std::vector<std::size_t> courses{};  // of each of the plan's trees: index into courses_
    std::size_t open = 0;                // transfers
  };

  static constexpr std::size_t kNoCourse = SIZE_MAX;

  void add_course(const engine::Edge& edge, bool is_send);
  [[nodiscard]] std::size_t course_of(const engine::Operation& operation) const {
    return course_of_[operation.is_send ? 1 : 0][operation.tree][operation.edge];
  }
  bool read(Ring& ring, std::vector<engine::Completion>& completions);
  // False if the receive of this cell's segment has not begun, or if the segment is a wrong one.
  bool take_cell(Ring& ring, const HostRing::Cell& cell,
                 std::vector<engine::Completion>& completions);
  bool write(Ring& ring, std::vector<engine::Completion>& completions);
  void write_cell(Ring& ring, Course& course, std::vector<engine::Completion>& completions);
  // Whose segment is the oldest of those that wait for the ring; null if none does.
  [[nodiscard]] Course* next_to_write(const Ring& ring);
  void finish(Ring& ring, Course& course, std::vector<engine::Completion>& completions);
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const;

  std::shared_ptr<HostRings> rings_of_host_;
  TransferLog* transfers_;
  std::vector<Ring> rings_;
  std::vector<Course> courses_;
  // Of this rank's in-edges, and of its out-edges, in each tree: indices into courses_, or
  // kNoCourse.
  std::array<std::vector<std::vector<std::size_t>>, 2> course_of_;
  std::size_t open_ = 0;       // transfers
  std::uint64_t message_ = 0;  // bytes
  std::uint64_t unit_bytes_ = 1;
  std::size_t places_ = 0;
  std::size_t first_place_ = 0;
};

}  // namespace espalier::runtime
