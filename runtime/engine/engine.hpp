// The engine that moves the segments of a message along all trees of a plan at the same time. How
// it does so: docs/engine.md.
//
// No deadlock. Suppose that segments remain and no request completes on any rank. Let i be the
// oldest segment of the message that some rank lacks, n its number in its tree, and C the rank
// closest to the source that lacks it. All ranks have the tree's segments before n, so all sends of
// those are complete; hence C has a buffer for n and has posted its receive. C's parent has n: if
// the parent is the source, it has injected n, because nothing older is in flight. The parent's
// earlier sends to C are complete, so its send of n is posted. Send and receive match, so they
// complete: a contradiction.
//
// Rings do not change this: a reader has a buffer for the whole message, so it empties the ring
// whatever else it waits for. If exchange edges are treated as ordinary edges, the argument holds
// for the ranks that no exchange edge leads to; once these have all segments, the ranks at the end
// of their exchange edges are served like children of a source that has injected everything, and so
// on. In rounds the lookahead cannot block: they need trees of equal rates, whose segments are due
// in the order of the message to within one per tree.
//
// With ports, a rank has at most that many sends in progress, those of the oldest segments first.
// This needs stores that hold the whole message: then a receive is posted as soon as the preceding
// ones have completed, whatever the receiver's own sends do, so the oldest send in progress from
// one rank to another matches, completes, and makes way for the next. With smaller buffers, two
// ranks that are each other's parent in two trees could wait for each other.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "planner/plan/segment_assignment.hpp"
#include "planner/plan/segment_choice.hpp"
#include "runtime/engine/rounds.hpp"
#include "runtime/engine/segments.hpp"
#include "runtime/engine/timetable.hpp"
#include "runtime/engine/tree_role.hpp"
#include "runtime/memory/host_ring.hpp"
#include "runtime/transport/timeout.hpp"
#include "runtime/transport/transfer_log.hpp"

namespace espalier::runtime {

struct EngineOptions {
  std::size_t sends_in_flight = planner::kSendsInFlight;  // per child of a tree
  std::size_t receives_in_flight = 4;                     // per tree
  // With latencies the windows are larger than the two above, and larger still for segments that
  // MPI sends by a rendezvous (runtime/engine/windows.hpp).
  planner::SegmentCosts costs;
  double most_in_flight = 0;  // planner::most_bytes_in_flight of the trees, all ranks' edges
  // Compare the message's size among the ranks while it is sent. Receives that a longer segment
  // could overflow wait for the result.
  bool check_sizes = true;
  // Whether the segment size depends on the message's size, so that ranks with different sizes may
  // send segments of different lengths: for segments from ranks of this host; for segments from
  // other hosts that may exceed the eager size.
  bool segments_vary = false;
  bool remote_segments_vary = false;
  std::size_t ports = 0;  // most sends in progress over all children and trees; 0: no limit
  std::vector<TreeRounds> rounds;        // of this rank, one per tree; empty: no rounds
  std::optional<Timetable> timetable{};  // of this rank; unset: no schedule
  bool source_dozes = false;             // it sleeps while it waits, for large messages
  std::optional<Seconds> timeout;        // without a completed request; unset: waits indefinitely
  // For roles with from_ring or to_ring. Stores must then hold the whole message and never fail.
  std::shared_ptr<HostRings> rings{};
  TransferLog* transfers = nullptr;  // records all segments, unless null
  // Called during a run with the number of bytes that this rank has finished; may be empty.
  std::function<void(std::uint64_t)> on_progress;
};

enum class Outcome { kComplete, kStopped };

class Engine {
 public:
  // With rounds, roles have no exchange edges and all trees of the assignment have the same rate.
  // With a timetable, the assignment is that of its slots. Rounds, ports and a timetable exclude
  // one another. comm: used by the engine alone, with MPI_ERRORS_RETURN; tags 0 to roles.size() are
  // used. source: its rank.
  Engine(MPI_Comm comm, int source, std::vector<TreeRole> roles,
         planner::SegmentAssignment assignment, EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;

  // Collective. With ports, the store must hold the whole message; with a timetable, as many
  // segments as the slots require. stoppable: stores may fail; this costs a synchronisation at the
  // end, which waits for the other ranks up to end_timeout. The outcome is the same on all ranks.
  // After an exception (MpiError, TimedOut, InputError for sizes that differ), messages may still
  // be in progress and the engine must not run again.
  Outcome run(const SegmentGrid& grid, SegmentStore& store, bool stoppable, Timeout end_timeout);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace espalier::runtime
