// The engine that combines the segments of one message along all reduce trees of a plan at once.
//
// Each tree is a flow of its own, towards the root. A rank has a window of receives posted ahead
// for each child, combines a segment that has come with its own (MPI_Reduce_local), child after
// child in the order of the plan, and sends it to its parent when all children have added theirs,
// by non-blocking sends of which only a few are outstanding, while further segments come. So the
// same plan and segment size combine the same elements in the same order each time. Segments are
// whole elements; those of one tree travel under one tag, in order.
//
// Room. Where this rank has the result's memory (the root; with an allreduce every rank) segments
// are combined there, and the first child's are received there as well, unless it holds the rank's
// own elements (MPI_IN_PLACE). Otherwise they are combined where the first child's came, in a
// scratch window. Sends are synchronous (MPI_Issend): one is complete only when its receive was
// posted, so that what has come too early for a window does not pile up in MPI's own memory,
// however fast one child is and however slow another.
//
// The root takes segments at most a lookahead beyond the oldest that is not combined, so that trees
// keep to their shares, as the source of a broadcast does (runtime/engine/engine.hpp).
//
// No deadlock. Suppose that segments are left and no request completes anywhere, and nobody has
// anything to combine. Let i be the oldest segment of the message that the root has not combined, n
// its number in its tree, R a rank of that tree that has not combined n but whose children all have
// (leaves have from the start). The segments of the tree before n are combined at the root, so they
// were received from every rank, and the sends of them are complete. So each child of R has sent n:
// its window has room, as all before n are complete. And R has posted the receive of n: it has
// received, combined and sent on what was before, so that the rooms of n are free; where R is the
// root, i is within the lookahead. Both match, so they complete, and when all children's have
// come, R combines them: a contradiction. With `check` receives may wait for its comparison, which
// ends when all ranks have begun.
//
// With ports a rank sends its segments strictly in the order of the message over all trees. All
// segments before i are combined at the root, so all sends of them are complete, and i is the next
// that R's child sends: the argument holds. (In any other order it would not: a send that waits for
// room may keep the port from one that this room waits for.)
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/plan/segment_assignment.hpp"
#include "runtime/api/call_check.hpp"
#include "runtime/engine/pacing.hpp"
#include "runtime/engine/reduce_window.hpp"
#include "runtime/engine/segments.hpp"
#include "runtime/engine/tree_role.hpp"
#include "runtime/transport/request_table.hpp"

namespace espalier::runtime {

struct ReduceEngineOptions {
  std::size_t sends_in_flight = planner::kSendsInFlight;  // per tree
  std::size_t receives_in_flight = 4;                     // per child of a tree
  // Both windows are to hold so many bytes: as many segments more as that takes, 256 at most.
  Bytes least_in_flight{};
  std::size_t ports = 0;      // sends in progress over all trees; 0: any number
  int first_tag = 0;          // of as many as trees
  double most_in_flight = 0;  // planner::most_bytes_in_flight of the trees, all ranks' edges
  // Of each rank: whether its segments, of whatever call, are short enough for MPI to send them at
  // once and to cut what is too long for its receive. Others are received when all calls are known
  // to be alike. Empty: none are.
  std::vector<bool> sends_at_once;
  // Called on this rank with the bytes that it is done with, as it goes; may be empty.
  std::function<void(std::uint64_t)> on_progress;
};

// One message to be reduced.
struct ReduceJob {
  ElementShape shape;
  MPI_Datatype type;
  MPI_Op op;         // commutative
  SegmentGrid grid;  // in elements
  void* own;         // this rank's elements
  void* result;      // where they are to be combined; null: this rank keeps no result. May be own.
  CallCheck* check;  // compared among the ranks while it runs; null: not
};

class ReduceEngine {
 public:
  // comm: of the caller's own, with MPI_ERRORS_RETURN and at least two ranks. roles: in the reduce
  // trees.
  ReduceEngine(MPI_Comm comm, std::vector<TreeRole> roles, planner::SegmentAssignment assignment,
               ReduceEngineOptions options);
  ReduceEngine(const ReduceEngine&) = delete;
  ReduceEngine& operator=(const ReduceEngine&) = delete;
  ReduceEngine(ReduceEngine&&) = delete;
  ReduceEngine& operator=(ReduceEngine&&) = delete;
  ~ReduceEngine() = default;

  // Makes room for the scratch windows of such a job, unless there is enough. Throws
  // std::bad_alloc.
  void reserve(const ReduceJob& job);
  // Collective, as a whole: begin, and then wait_for_some or poll until it is done. After
  // reserve(job). They throw MpiError (naming segment, tree and peer), InputError for ranks that
  // have called it differently; then abandon() is all that may follow.
  void begin(const ReduceJob& job);
  // Waits until something has come or gone, and does what has become possible.
  void wait_for_some();
  // The same without waiting.
  void poll();
  [[nodiscard]] bool is_done() const;
  // On the root: segment `index` is the result.
  [[nodiscard]] bool has_combined(std::uint64_t index) const;
  // Neither the segment's own elements nor its place in the result will be touched any more.
  [[nodiscard]] bool is_through_with(std::uint64_t index) const;
  // Gives up what is in progress, as far as MPI can.
  void abandon() noexcept;

 private:
  // The state of one tree. Counters of its segments.
  struct Inflow {
    struct Child {
      std::uint64_t posted = 0;  // receives begun
      std::uint64_t here = 0;    // arrived
    };
    std::uint64_t end = 0;
    std::uint64_t combined = 0;  // with those of all children
    std::size_t added = 0;       // of segment `combined`, those of the first so many children
    std::uint64_t started = 0;   // sends (not on the root)
    std::uint64_t sent = 0;
    double due_s = 0;  // MPI_Wtime: the next is not to be sent before
    std::vector<Child> children;
  };

  [[nodiscard]] bool is_root() const { return roles_[0].parent == kNoRank; }
  [[nodiscard]] bool is_under_comparison() const {
    return requests_.size_check() != MPI_REQUEST_NULL;
  }
  // Segments are combined in the result, and the first child's come there.
  [[nodiscard]] bool comes_to_result() const {
    return job_->result != nullptr && job_->result != job_->own;
  }
  [[nodiscard]] int elements_of(std::uint64_t index) const {
    return static_cast<int>(job_->grid.length(index));
  }
  [[nodiscard]] void* place_in(void* buffer, std::uint64_t index) const;
  // Where a child's segment comes, and where segments are combined.
  void* buffer_for(std::size_t tree, std::size_t child, std::uint64_t nth);
  void* sum_of(std::size_t tree, std::uint64_t nth);
  // Of a child's segments, those whose room may be used again.
  [[nodiscard]] std::uint64_t freed(std::size_t tree, std::size_t child) const;

  // With latencies they are larger than the options' (runtime/engine/windows.hpp).
  void set_windows();
  // Segments of a child that there is room for.
  [[nodiscard]] std::uint64_t ring_of(std::size_t tree, std::size_t child, bool keeps_result) const;
  void note(std::span<const RequestTable::Completion> completions);
  void check_received(const RequestTable::Completion& completion);
  void settle_comparison();
  void move_on();
  void note_arrivals_and_sends(std::size_t tree);
  bool combine_one(std::size_t tree);
  void post_receives(std::size_t tree);
  [[nodiscard]] bool may_receive(std::size_t tree, std::size_t child);
  [[nodiscard]] bool is_at_risk(int from) const;
  [[nodiscard]] bool is_too_far_ahead(std::uint64_t index) const;
  void start_sends();
  bool start_send(std::size_t tree);
  void add_progress(std::uint64_t elements);

  [[nodiscard]] std::string receiving(std::size_t tree, std::size_t child, std::uint64_t nth) const;
  [[nodiscard]] std::string sending(std::size_t tree, std::uint64_t nth) const;
  [[nodiscard]] std::string describe(const RequestTable::Entry& entry) const;
  [[nodiscard]] std::string context() const;

  MPI_Comm comm_;
  int rank_ = 0;
  std::vector<TreeRole> roles_;
  planner::SegmentAssignment assignment_;
  ReduceEngineOptions options_;
  Bytes segment_{};
  std::uint64_t lookahead_ = 0;
  bool keeps_pace_ = false;  // planner/plan/send_windows.hpp
  PacingTimer pacing_;
  RequestTable requests_;
  ScratchWindows scratch_;
  std::optional<ReduceJob> job_;
  std::vector<Inflow> flows_;
  bool awaits_segments_;
  std::uint64_t next_ = 0;       // segment to be sent, with ports
  std::size_t outstanding_ = 0;  // sends
  std::uint64_t done_bytes_ = 0;
};

}  // namespace espalier::runtime
