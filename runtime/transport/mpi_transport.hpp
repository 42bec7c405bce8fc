// An engine's transport over MPI: segments go as messages under one tag per tree, so MPI's order of
// messages identifies them, or through rings in memory that ranks of a host share.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "runtime/memory/host_ring.hpp"
#include "runtime/transport/abort_signal.hpp"
#include "runtime/transport/call_check.hpp"
#include "runtime/transport/request_table.hpp"
#include "runtime/transport/ring_edges.hpp"
#include "runtime/transport/timeout.hpp"
#include "runtime/transport/transfer_log.hpp"
#include "support/pinned.hpp"

namespace espalier::runtime {

struct MpiTransportOptions {
  int root = 0;                      // the rank that ends a message early
  std::optional<Seconds> timeout;    // without a completed request; unset: waits indefinitely
  std::string check_name;            // what a rank does that compares the calls of the ranks
  bool may_doze = false;             // it sleeps while it waits, for large messages
  TransferLog* transfers = nullptr;  // records all segments, unless null
  std::shared_ptr<HostRings> rings;  // for edges that use one
};

// What MPI has to know of a message.
struct MpiCall {
  MPI_Datatype type;         // of the units in which segments are measured
  std::uint64_t unit_bytes;  // of one of them
  std::uint64_t bytes;       // of the message
  CallCheck* check;          // compared among the ranks meanwhile; null: no comparison
};

// Meets engine::Transport, whose functions are described there. They throw MpiError, InputError for
// calls that differ, TimedOut.
class MpiTransport : public Pinned {  // its members refer to one another
 public:
  // comm: used by this object and its caller alone, with MPI_ERRORS_RETURN. roles: the engine's.
  MpiTransport(MPI_Comm comm, std::vector<engine::TreeRole> roles, MpiTransportOptions options);

  // Call it before each message begins.
  void set_call(const MpiCall& call) { call_ = call; }
  // Collective; call it when a message that may be stopped is done on this rank. Returns true, on
  // all ranks, if any rank's store has failed. timeout: for the other ranks.
  [[nodiscard]] bool has_stopped(Timeout timeout) { return abort_signal_.finish(timeout); }
  // After an exception: cancels or frees the requests in progress, as far as MPI can.
  void abandon() noexcept;

  [[nodiscard]] std::span<const engine::TreeRole> roles() const { return roles_; }

  // --- for the engine ---
  static constexpr bool kMovesBytes = true;
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] double now() const { return MPI_Wtime(); }
  void set_windows(std::vector<engine::TreeWindows> windows);
  [[nodiscard]] std::span<const engine::TreeWindows> windows() const { return requests_.windows(); }
  void begin(bool stoppable);
  int receive(const engine::Operation& operation, const engine::Segment& segment,
              std::byte* buffer);
  int send(const engine::Operation& operation, const engine::Segment& segment, std::byte* buffer,
           bool synchronous);
  void cancel(const engine::Operation& operation);
  [[nodiscard]] bool is_complete(const engine::Operation& operation) const {
    if (edge_of(operation).uses_ring()) return rings_->is_complete(operation);
    return requests_.of(operation) == MPI_REQUEST_NULL;
  }
  [[nodiscard]] int peer_of(const engine::Operation& operation) const;
  [[nodiscard]] bool is_checked() const { return requests_.size_check() == MPI_REQUEST_NULL; }
  void await_check();
  [[nodiscard]] const std::string& check_name() const { return options_.check_name; }
  std::span<const engine::Completion> poll();
  std::optional<std::span<const engine::Completion>> wait();
  [[nodiscard]] bool has_to_poll() const { return rings_ && rings_->has_open(); }
  void note_progress() { timeout_.begin(); }
  [[nodiscard]] bool is_overdue() { return timeout_.is_over(); }
  void relax(double due_s, bool awaits_segments) const;
  void raise_abort() { abort_signal_.raise(); }
  [[nodiscard]] bool is_abort_raised() const { return abort_signal_.is_raised(); }
  [[noreturn]] void fail(int error, const std::string& doing) const;
  [[noreturn]] void give_up(const std::string& waits) const;

 private:
  [[nodiscard]] const engine::Edge& edge_of(const engine::Operation& operation) const {
    const engine::TreeRole& role = roles_[operation.tree];
    return (operation.is_send ? role.out : role.in)[operation.edge];
  }
  [[nodiscard]] int tag_of(const engine::Operation& operation) const {
    return static_cast<int>(roles_[operation.tree].number);
  }
  void log_begin(const engine::Operation& operation, const engine::Segment& segment);
  void note(std::span<const RequestTable::Completion> completions);

  MPI_Comm comm_;
  int rank_;
  std::vector<engine::TreeRole> roles_;
  MpiTransportOptions options_;
  RequestTable requests_;
  AbortSignal abort_signal_;
  Timeout timeout_;
  std::optional<RingEdges> rings_;
  bool has_only_rings_;  // this rank neither receives nor sends segments by MPI
  MpiCall call_{MPI_BYTE, 1, 0, nullptr};
  bool has_moved_ = false;  // cells of a ring, in the last poll
  std::vector<engine::Completion> completions_;
};

}  // namespace espalier::runtime
