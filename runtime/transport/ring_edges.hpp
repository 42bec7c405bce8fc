// The transfers of an engine through the host's rings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
  // A message of `bytes` bytes begins. first_place: of this rank's in the log, after which places()
  // follow.
  void begin(std::uint64_t bytes, std::size_t first_place);
  [[nodiscard]] std::size_t places() const { return trees_.size() * (1 + rings_->readers.size()); }
  // The transfer of one segment along this rank's ring edge of the tree, in the segments' order.
  void begin_transfer(const engine::Operation& operation, const engine::Segment& segment,
                      std::byte* buffer) {
    Course& course = course_of(operation);
    course.open[course.begun++ % course.open.size()] = {operation, segment, buffer};
  }
  [[nodiscard]] bool is_complete(const engine::Operation& operation) const {
    const Tree& tree = trees_[operation.tree];
    return operation.nth < (operation.is_send ? tree.out : tree.in).done;
  }
  // Whether segments have still to pass through a ring that this rank reads or writes.
  [[nodiscard]] bool has_open() const;
  // The rank that a full ring waits for.
  [[nodiscard]] int slowest_reader() const {
    return rings_->readers[rings_->written->slowest_reader()];
  }
  // Moves a few cells of each ring and appends the transfers that are complete. Returns whether
  // there were any cells.
  bool move(std::vector<engine::Completion>& completions);

 private:
  struct Transfer {
    engine::Operation operation{};
    engine::Segment segment{};
    std::byte* buffer = nullptr;
  };
  // The transfers along one edge.
  struct Course {
    std::vector<Transfer> open{1};  // segment n is in place n modulo the size
    std::uint64_t begun = 0;
    std::uint64_t done = 0;
    std::uint64_t bytes = 0;  // of segment `done` that have been moved
    [[nodiscard]] bool is_open() const { return done < begun; }
    [[nodiscard]] const Transfer& oldest() const { return open[done % open.size()]; }
  };
  struct Tree {
    int writer = engine::kNoRank;  // whose ring this rank reads
    Course in;
    Course out;
  };

  [[nodiscard]] Course& course_of(const engine::Operation& operation) {
    Tree& tree = trees_[operation.tree];
    return operation.is_send ? tree.out : tree.in;
  }
  [[nodiscard]] bool awaits_from(int writer) const;
  bool read(HostRings::Read& ring, std::vector<engine::Completion>& completions);
  // False if the receive of this cell's segment has not begun, or if the segment is a wrong one.
  bool take_cell(const HostRing::Cell& cell, int writer,
                 std::vector<engine::Completion>& completions);
  bool write(std::vector<engine::Completion>& completions);
  void write_cell(std::size_t tree, std::vector<engine::Completion>& completions);
  // The tree whose next segment for the ring is the oldest; none if no segment is available.
  [[nodiscard]] std::optional<std::size_t> next_to_write() const;
  void finish(Course& course, std::vector<engine::Completion>& completions);
  // Places in the log: per tree one for segments from the parent's ring, then one per reader of
  // this rank's ring.
  [[nodiscard]] std::size_t place_of(std::size_t tree, std::size_t reader) const {
    return first_place_ + tree * (1 + rings_->readers.size()) + reader;
  }

  std::shared_ptr<HostRings> rings_;
  TransferLog* transfers_;
  std::vector<Tree> trees_;
  std::uint64_t message_ = 0;  // bytes
  std::size_t first_place_ = 0;
};

}  // namespace espalier::runtime
