// The engine that combines the segments of a message along all reduce trees of a plan at the same
// time. How it does so: docs/engine.md.
//
// No deadlock. Suppose that segments remain, no request completes on any rank, and no rank has
// anything to combine. Let i be the oldest segment of the message that the root has not combined, n
// its number in its tree, and R a rank of that tree that has not combined n although all its
// children have (leaves have from the start). The tree's segments before n are combined at the
// root, so they were received from every rank, and their sends are complete. So each child of R has
// sent n: its window has space, as all sends before n are complete. R has posted the receive of n:
// it has received, combined and sent on everything before n, so the buffers of n are free; if R is
// the root, i is within the lookahead. Sends and receives match, so they complete; when all
// children's segments have arrived, R combines them: a contradiction. With `check`, receives may
// wait for its comparison, which ends when all ranks have begun.
//
// With ports a rank sends its segments strictly in the order of the message over all trees. All
// segments before i are combined at the root, so all their sends are complete, and i is the next
// segment that R's child sends: the argument holds. (In any other order it would not: a send that
// waits for a buffer could occupy the port that another send needs to free this buffer.)
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/plan/segment_assignment.hpp"
#include "runtime/engine/pacing.hpp"
#include "runtime/engine/reduce_window.hpp"
#include "runtime/engine/segments.hpp"
#include "runtime/engine/tree_role.hpp"
#include "runtime/transport/call_check.hpp"
#include "runtime/transport/request_names.hpp"
#include "runtime/transport/request_table.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::runtime {

struct ReduceEngineOptions {
  std::size_t sends_in_flight = planner::kSendsInFlight;  // per tree
  std::size_t receives_in_flight = 4;                     // per child of a tree
  // Both windows grow to hold at least this many bytes, up to 256 segments.
  Bytes least_in_flight{};
  std::size_t ports = 0;      // most sends in progress over all trees; 0: no limit
  int first_tag = 0;          // of one tag per tree
  double most_in_flight = 0;  // planner::most_bytes_in_flight of the trees, all ranks' edges
  // For each rank: whether its segments, in any call, are short enough for MPI to send them eagerly
  // and to truncate one that is too long for its receive. Segments of other ranks are received only
  // when all calls are known to match. Empty: false for all.
  std::vector<bool> sends_at_once;
  std::optional<Seconds> timeout{};  // without progress; unset: waits indefinitely
  // Called during a run with the number of bytes that this rank has finished; may be empty.
  std::function<void(std::uint64_t)> on_progress;
};

// One message to be reduced.
struct ReduceJob {
  ElementShape shape;
  MPI_Datatype type;
  MPI_Op op;         // commutative
  SegmentGrid grid;  // in elements
  void* own;         // this rank's elements
  void* result;      // where to combine; null: this rank keeps no result. May be equal to own.
  CallCheck* check;  // compared among the ranks meanwhile; null: no comparison
};

class ReduceEngine {
 public:
  // comm: used by this engine and its caller alone, with MPI_ERRORS_RETURN and at least two ranks.
  // roles: in the reduce trees.
  ReduceEngine(MPI_Comm comm, std::vector<TreeRole> roles, planner::SegmentAssignment assignment,
               ReduceEngineOptions options);
  ReduceEngine(const ReduceEngine&) = delete;
  ReduceEngine& operator=(const ReduceEngine&) = delete;
  ReduceEngine(ReduceEngine&&) = delete;
  ReduceEngine& operator=(ReduceEngine&&) = delete;
  ~ReduceEngine() = default;

  // Allocates the scratch windows of such a job, unless they are large enough. Throws
  // std::bad_alloc.
  void reserve(const ReduceJob& job);
  // Collective as a whole: after reserve(job) call begin, then wait_for_some or poll until is_done.
  // They throw MpiError (naming segment, tree and peer), TimedOut, and InputError when the ranks'
  // calls differ; afterwards only abandon() may be called.
  void begin(const ReduceJob& job);
  // Waits until a send or receive completes, and does what has become possible.
  void wait_for_some();
  // The same without waiting.
  void poll();
  [[nodiscard]] bool is_done() const;
  // On the root: segment `index` is the result.
  [[nodiscard]] bool has_combined(std::uint64_t index) const;
  // Neither the rank's own elements of the segment nor its place in the result will be accessed
  // again.
  [[nodiscard]] bool is_finished_with(std::uint64_t index) const;
  // Cancels or frees the requests in progress, as far as MPI can.
  void abandon() noexcept;

 private:
  // The state of one tree: counters of its segments.
  struct Inflow {
    struct Child {
      std::uint64_t posted = 0;  // receives begun
      std::uint64_t here = 0;    // arrived
    };
    std::uint64_t end = 0;
    std::uint64_t combined = 0;  // with those of all children
    std::size_t added = 0;       // children whose part of segment `combined` is included
    std::uint64_t started = 0;   // sends (not on the root)
    std::uint64_t sent = 0;
    double due_s = 0;  // MPI_Wtime: earliest start of the next send
    std::vector<Child> children;
  };

  [[nodiscard]] bool is_root() const { return roles_[0].parent == kNoRank; }
  [[nodiscard]] bool is_under_comparison() const {
    return requests_.size_check() != MPI_REQUEST_NULL;
  }
  // Segments are combined in the result, and the first child's are received there.
  [[nodiscard]] bool comes_to_result() const {
    return job_->result != nullptr && job_->result != job_->own;
  }
  [[nodiscard]] int elements_of(std::uint64_t index) const {
    return static_cast<int>(job_->grid.length(index));
  }
  [[nodiscard]] void* place_in(void* buffer, std::uint64_t index) const;
  // Where a child's segment is received, and where segments are combined.
  void* buffer_for(std::size_t tree, std::size_t child, std::uint64_t nth);
  void* sum_of(std::size_t tree, std::uint64_t nth);
  // The number of a child's segments whose buffers may be reused.
  [[nodiscard]] std::uint64_t freed(std::size_t tree, std::size_t child) const;

  // With latencies the windows are larger than in the options (runtime/engine/windows.hpp).
  void set_windows();
  // Number of a child's segments for which there are buffers.
  [[nodiscard]] std::uint64_t ring_of(std::size_t tree, std::size_t child, bool keeps_result) const;
  void note(std::span<const RequestTable::Completion> completions);
  void check_received(const RequestTable::Completion& completion);
  void await_comparison();
  // Does everything that has become possible. Returns whether anything was combined.
  bool move_on();
  [[noreturn]] void give_up();
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
  [[nodiscard]] std::uint64_t nth_of(const RequestTable::Entry& entry) const;
  [[nodiscard]] std::string describe(const RequestTable::Entry& entry) const;
  [[nodiscard]] RequestNaming naming() const;
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
  Timeout timeout_;
  RequestTable requests_;
  ScratchWindows scratch_;
  std::optional<ReduceJob> job_;
  std::vector<Inflow> flows_;
  bool awaits_segments_;
  std::uint64_t next_ = 0;       // segment to be sent next, with ports
  std::size_t outstanding_ = 0;  // sends
  std::uint64_t done_bytes_ = 0;
};

}  // namespace espalier::runtime
