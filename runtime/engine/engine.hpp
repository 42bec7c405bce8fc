// The engine that moves the segments of one message along all trees of a plan at once.
//
// Each tree is a flow of its own: a window of receives from the parent is posted ahead, and an
// arrived segment goes at once to the children, in plan order, by non-blocking sends of which only
// a few are outstanding per child. MPI_Waitsome over all flows' requests drives it. Segments of one
// tree travel under one tag, in order, so that MPI's own order of messages (same source, tag and
// communicator) says which segment a message is; nothing but payload is sent.
//
// The source lets segments go in the order of the message, at most a lookahead of them beyond the
// oldest that it has not sent to all its children. So the trees keep to their shares; otherwise a
// tree that can be faster than its rate takes the others' bandwidth, ends early, and leaves them to
// finish alone at their own rates.
//
// No deadlock. Suppose that segments are left and no request completes anywhere. Let i be the
// oldest segment of the message that some rank lacks, n its number in its tree, C the rank nearest
// the source that lacks it. All ranks have that tree's segments before n, so all sends of those are
// complete, and C has room for n and has posted its receive. C's parent has n; where it is the
// source, it has let n go, for nothing older is in flight. As its earlier sends to C are complete,
// its send of n is posted. The two match, so they complete: a contradiction.
//
// On links whose latency holds segments of their own, windows are larger, segments of a tree go to
// a child at a pace, and a single tree has a lookahead, too.
//
// Where roles say so, segments go from a rank to others of its host through a ring in their memory
// (runtime/memory/host_ring.hpp). Once all of a segment is in the ring it counts as sent, and once
// all of it has come out as received. The argument above holds: a reader has room for the whole
// message, so it empties the ring whatever else it waits for. Such ranks poll, for no request tells
// of a ring.
//
// Exchange edges (PlanTree::exchange) come last in their tree: a rank begins to send on them when
// it has all of the tree's segments and has begun to send the last of them to its other children.
// The source's lookahead does not count them. Where a store has no room for that many segments,
// they are ordinary edges that are served after the others, segment by segment. The argument above
// then holds for the ranks that no exchange edge leads to; once they have all segments, those at
// the end of exchange edges are served like children of a source that has let everything go, and so
// on.
//
// With ports, a rank has at most so many sends in progress, those of the oldest segments first.
// That needs stores with room for the whole message: then a receive is posted as soon as the ones
// before it have come, whatever the receiver's own sends do, so the oldest send in progress from a
// rank to another matches, completes, and makes room for the next. With less room, two ranks that
// are each other's parent in two trees could wait for each other.
//
// By rounds (runtime/engine/rounds.hpp) the engine is the same, but for sends and receives being
// begun when they are due. The source's lookahead cannot be in the way: rounds need trees of equal
// rates, whose segments are due in the order of the message to within one of each tree.
//
// By schedule (runtime/engine/timetable.hpp) sends and receives are begun in the order of a
// timetable, a few of each at a time over all trees, and sends are synchronous, so that a rank does
// not run ahead of whom it sends to. Exchange edges are edges like others.
//
// Stopping early. A store that fails (full disk) says so; its rank tells the source, and the source
// ends each flow with an empty message, which no segment is. A rank that gets it passes it on and
// withdraws its further receives. All ranks meet at the end, so that no later message can match a
// receive that is about to be withdrawn.
//
// With a timeout a rank gives up when no request of its own has completed for so long, and says
// what it waits for. What ranks do outside of waiting (reading, writing files) does not count.
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
  // With latencies the windows are larger than the two above, and more so for segments that the
  // receiver is asked about (runtime/engine/windows.hpp).
  planner::SegmentCosts costs;
  double most_in_flight = 0;  // planner::most_bytes_in_flight of the trees, all ranks' edges
  // Compare the message's size among the ranks while it runs. Receives that a longer segment could
  // overflow wait for it.
  bool check_sizes = true;
  // With the message's size, so that no segment's length is sure: those that come from a rank of
  // this host; those that come from another host and may be above the eager size.
  bool segments_vary = false;
  bool far_segments_vary = false;
  std::size_t ports = 0;           // sends in progress over all children and trees; 0: any number
  std::vector<TreeRounds> rounds;  // of this rank, one a tree; empty: not by rounds
  std::optional<Timetable> timetable{};  // of this rank; unset: not by schedule
  bool source_dozes = false;             // sleeps while it waits, with messages that are worth it
  std::optional<Seconds> timeout;        // without a request completed; unset: waits indefinitely
  // Of the roles that say so; stores have room for the whole message then, and none may fail.
  std::shared_ptr<HostRings> rings{};
  TransferLog* transfers = nullptr;  // notes all segments, unless null
  // Called with the bytes that this rank is done with, as it goes; may be empty.
  std::function<void(std::uint64_t)> on_progress;
};

enum class Outcome { kComplete, kStopped };

class Engine {
 public:
  // By rounds, roles have no exchange edges and the assignment's trees one rate. By schedule, the
  // assignment is that of the timetable's slots. Rounds, ports and a timetable exclude each other.
  // comm: of the engine's own, with MPI_ERRORS_RETURN; tags 0 to roles.size() are used. source: its
  // rank.
  Engine(MPI_Comm comm, int source, std::vector<TreeRole> roles,
         planner::SegmentAssignment assignment, EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;

  // Collective. With ports, the store has room for the message; by schedule, as much as the slots
  // ask for. stoppable: stores may fail; costs a synchronisation at the end, in which a rank waits
  // for the others as long as settling has timeout. The outcome is the same on all ranks. When it
  // throws (MpiError, TimedOut, InputError for sizes that differ), messages may be in progress and
  // the engine refuses to run again.
  Outcome run(const SegmentGrid& grid, SegmentStore& store, bool stoppable, Timeout timeout_s_todo);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace espalier::runtime
