// The implementation of Engine; included only by the engine's own files.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/engine.hpp"
#include "runtime/engine/flow.hpp"
#include "runtime/engine/pacing.hpp"
#include "runtime/transport/abort_signal.hpp"
#include "runtime/transport/call_check.hpp"
#include "runtime/transport/request_names.hpp"
#include "runtime/transport/request_table.hpp"

namespace espalier::runtime {

class Engine::Run {
 public:
  Run(MPI_Comm comm, int rank, int source, std::vector<TreeRole> roles,
      planner::SegmentAssignment assignment, EngineOptions options)
      : comm_(comm),
        rank_(rank),
        source_(source),
        roles_(std::move(roles)),
        assignment_(std::move(assignment)),
        options_(std::move(options)),
        requests_(roles_,
                  even_windows(roles_, options_.receives_in_flight, options_.sends_in_flight)),
        flows_(roles_.size()),
        names_(roles_, assignment_, flows_, requests_),
        abort_signal_(comm_, rank_, source_, static_cast<int>(roles_.size()), requests_),
        timeout_(options_.timeout) {
    if (!options_.rounds.empty()) rounds_.emplace(options_.rounds);
  }
  ~Run() = default;
  Run(const Run&) = delete;  // its members refer to one another
  Run& operator=(const Run&) = delete;
  Run(Run&&) = delete;
  Run& operator=(Run&&) = delete;

  Outcome run(const SegmentGrid& grid, SegmentStore& store, bool stoppable, Timeout end_timeout);

 private:
  using Kind = RequestTable::Kind;

  [[nodiscard]] bool is_source() const { return rank_ == source_; }

  [[nodiscard]] Segment segment_at(std::size_t tree, std::uint64_t nth) const {
    const std::uint64_t index = assignment_.segment_of(tree, nth);
    return {index, tree, nth, grid_.offset(index), static_cast<std::size_t>(grid_.length(index))};
  }

  // --- the course of a run ---
  void begin(const SegmentGrid& grid, SegmentStore& store, bool stoppable);
  void set_windows(Bytes segment);
  void set_scheduled_windows(Bytes segment);
  [[nodiscard]] bool is_done();
  [[nodiscard]] bool flows_are_done() const;
  // Poll instead of waiting while the store has work of its own, a segment waits for its pace, or a
  // segment is to pass through a ring. The timeout does not apply in the first two cases.
  [[nodiscard]] bool has_to_poll() const;
  void poll();
  void handle(const RequestTable::Completion& completion);
  // Does everything that has become possible.
  void move_on();
  // False without rounds, while a receive or send of this round is in progress, and at the end.
  bool begin_next_round();
  void advance(std::size_t tree);

  // --- the source ---
  void inject();
  // Searches for the oldest segment in flight only when the known one is too old.
  [[nodiscard]] bool is_too_far_ahead();
  // Ends each flow whose segments are not all injected with an empty message.
  void stop_all_flows();

  // --- sends and receives ---
  // Segment by segment, and each segment to the children in the order of the plan.
  void start_sends(std::size_t tree);
  void start_oldest_sends();
  void start_scheduled_sends();
  [[nodiscard]] bool may_send(std::size_t tree, std::size_t child);
  // True on high-latency links and on links beside them (planner/plan/send_windows.hpp).
  [[nodiscard]] bool keeps_pace(std::size_t tree, std::size_t child) const;
  bool start_send(std::size_t tree, std::size_t child);
  // How many of the tree's segments may have been sent to this child by now.
  [[nodiscard]] std::uint64_t sendable(std::size_t tree, std::size_t child) const;
  void note_sent(std::size_t tree, std::size_t child);
  void keep_arrived(std::size_t tree);
  void free_sent(std::size_t tree);
  void post_receives(std::size_t tree);
  void post_scheduled_receives();
  // False if there is no buffer for the segment yet, or another reason to wait.
  bool post_receive(std::size_t tree);
  // Whether a segment longer than its buffer may arrive, because the ranks' messages differ. Open
  // MPI (4.1: its "get" protocols) writes all of it before it reports the truncation; eager
  // messages it copies only up to the receive's length.
  [[nodiscard]] bool is_at_risk(const Segment& segment);
  void on_received(std::size_t tree, std::uint64_t slot, const MPI_Status& status);
  void stop_flow(std::size_t tree, std::uint64_t nth);

  // --- rings of the host (engine_rings.cpp) ---
  // Whether segments have still to pass through a ring that this rank reads or writes.
  [[nodiscard]] bool awaits_rings() const;
  [[nodiscard]] bool awaits_from(int writer) const;
  // Whether this rank neither receives nor sends segments by MPI.
  [[nodiscard]] bool has_only_rings() const;
  // Moves a few cells of each ring. Returns whether there were any.
  bool move_rings();
  bool read_ring(HostRings::Read& ring);
  void take_cell(int writer, const HostRing::Cell& cell);
  bool write_ring();
  void write_cell(std::size_t tree);
  // The tree whose next segment for the ring is the oldest; none if no segment is available.
  [[nodiscard]] std::optional<std::size_t> next_for_ring() const;
  // "receiving segment 7 (number 3 of tree 1) from rank 2".
  [[nodiscard]] std::vector<std::string> ring_waits() const;
  // Indices for the transfer log, after those of the requests: one per tree for segments from the
  // parent's ring, and one per tree and reader of this rank's ring.
  [[nodiscard]] std::size_t ring_places() const;
  [[nodiscard]] std::size_t place_in_ring(std::size_t tree, std::size_t reader) const;

  // --- stopping ---
  void signal_abort();
  // After a segment of a wrong size: waits for the size check, which is the likely reason. All
  // ranks have begun the check, so it will end.
  void await_size_check();
  [[nodiscard]] std::string context() const { return fmt::format("rank {}, ", rank_); }
  [[noreturn]] void fail(const RequestTable::Completion& completion);
  [[noreturn]] void give_up();
  void add_progress(std::uint64_t bytes);

  MPI_Comm comm_;
  int rank_;
  int source_;
  std::vector<TreeRole> roles_;
  planner::SegmentAssignment assignment_;
  EngineOptions options_;
  std::uint64_t lookahead_ = 0;
  RequestTable requests_;
  std::vector<Flow> flows_;
  RequestNames names_;
  AbortSignal abort_signal_;
  Timeout timeout_;
  std::optional<RoundClock> rounds_;  // unset: every segment is sent as soon as possible
  std::uint64_t most_sends_ = 0;      // with a timetable, over all trees
  std::uint64_t most_receives_ = 0;

  SegmentGrid grid_;
  SegmentStore* store_ = nullptr;
  std::uint64_t injected_ = 0;  // segments (on the source)
  std::uint64_t oldest_ = 0;    // no segment before it is in flight (on the source)
  std::uint64_t done_bytes_ = 0;
  std::size_t outstanding_ = 0;  // sends
  RequestTable::Waiting waiting_ = RequestTable::Waiting::kBusy;
  PacingTimer pacing_;
  bool stoppable_ = false;
  bool stopping_ = false;           // the source has ended flows early
  std::optional<CallCheck> sizes_;  // of the run in progress
};

}  // namespace espalier::runtime
