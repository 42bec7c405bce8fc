// Executes a broadcast plan on the ranks of an MPI communicator.
//
//   espalier::runtime::Broadcast broadcast(comm, espalier::planner::read_plan("plan.json"));
//   broadcast.run(buffer, count, MPI_DOUBLE);
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "runtime/api/tuned_segments.hpp"

namespace espalier::runtime {

class SegmentStore;
class TransferLog;

enum class RankMapping {
  kByOrder,     // rank i is plan.nodes[i]
  kByHostName,  // the rank that runs on host h (MPI_Get_processor_name, up to the first dot) is
                // plan node h
};

// Must be the same on all ranks. The default windows were chosen by measurement (docs/runtime.md).
struct BroadcastOptions {
  std::size_t sends_in_flight = planner::kSendsInFlight;  // outstanding sends per child of a tree
  std::size_t receives_in_flight = 4;                     // posted ahead per tree
  // The most sends that a rank has in progress at once, over all children and trees; those of the
  // oldest segments go first. 1: exactly the one-port model. 0: no limit. Not with rounds or a
  // schedule, which limit sends themselves, nor with stream().
  std::size_t ports = 0;
  RankMapping mapping = RankMapping::kByOrder;
  // Ranks that share a host all copy from the one of them that a tree reaches first
  // (runtime/memory/direct_copies.hpp). Off: they forward segments along the plan's edges, as hosts
  // do. Always off with rounds, a schedule or ports, and in trees with exchange edges.
  bool direct_copies = true;
  // Bytes of a segment, 1 to 1 GiB. 0: chosen for the message and the plan
  // (planner/plan/segment_choice.hpp), at most the plan's segment; always the plan's segment with
  // rounds or a schedule, and where all ranks share a host.
  std::uint64_t segment_bytes = 0;
  // Segment sizes for messages of about these sizes (segment_tuned_for), ascending by message. Not
  // with segment_bytes, rounds or schedule.
  std::vector<TunedSegment> tuned;
  double tuned_within = kTunedWithin;  // the meaning of "about", at least 1; infinity: all sizes
  // Compare the message's size among the ranks while it is sent, so that a mismatch is an error
  // instead of a hang. Costs no bandwidth, but a rank leaves run() only when all ranks have entered
  // it.
  bool check_sizes = true;
  // Synchronised rounds given by the plan's colors (runtime/engine/rounds.hpp): in a round a rank
  // sends at most one segment and receives at most one, whatever the windows. Refused: a plan
  // without colors, with exchange edges, with trees of different rates, or in which a node would
  // send or receive twice in a round. Off: colors are ignored.
  bool rounds = false;
  // Follow the plan's periodic schedule (runtime/engine/timetable.hpp): a rank begins its sends in
  // the order of the schedule, sends_in_flight at a time over all trees, and its receives likewise.
  // If segments differ in size from the plan's, periods scale in proportion. A plan without a
  // schedule is refused. Off: schedules are ignored.
  bool schedule = false;
  // How the source waits. Dozing (sleeping between polls) leaves the processor to ranks that have
  // data to copy. kAuto: doze where the source's host has more ranks than processors.
  enum class Waiting { kAuto, kBusy, kDozing };
  Waiting source_waiting = Waiting::kAuto;
  // A rank gives up when none of its sends and receives has completed for this long. TimedOut
  // (runtime/transport/mpi_error.hpp) reports the operations that it waits for, and their peers.
  // Afterwards MPI is of little use: MPI_Finalize may wait indefinitely, MPI_Abort ends all ranks.
  // Where ranks wait for one another as a whole (construction, the end of stream()), twice the time
  // that the plan predicts is added. Unset: wait indefinitely.
  std::optional<Seconds> timeout;
  // Records what this rank sends and receives, and when; must outlive the broadcast. Null: no
  // record.
  TransferLog* transfers = nullptr;
  // Called on this rank during a message, with the number of its bytes that this rank has finished.
  // May be empty.
  std::function<void(std::uint64_t)> on_progress;
};

// A plan bound to a communicator: construct it once (collective), run it any number of times.
// Destroy it before MPI_Finalize.
class Broadcast {
 public:
  // Collective over `comm`, which is duplicated. Throws InputError on all ranks when the numbers of
  // ranks and of plan nodes differ (the message gives both), when a rank's host is not a node of
  // the plan (kByHostName), when the plan has a structural fault or cannot be run with these
  // options, or when the ranks have different plans or options; MpiError when MPI fails; TimedOut.
  Broadcast(MPI_Comm comm, const planner::Plan& plan, const BroadcastOptions& options = {});
  ~Broadcast();
  Broadcast(Broadcast&&) noexcept;
  Broadcast& operator=(Broadcast&&) noexcept;
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;

  // Collective. The data is in `buffer` on the plan's source; every other rank receives it in
  // `buffer`. count elements of `type`, contiguous or not; any count, including 0. The types may
  // differ among ranks where MPI_Bcast allows it. Throws InputError when the ranks' messages differ
  // in bytes, MpiError (naming segment, tree and peer) when MPI fails, TimedOut. After an exception
  // this object cannot run again. MPICH handles a failed request by the error handler of
  // MPI_COMM_WORLD, whatever the request's communicator: unless that handler is MPI_ERRORS_RETURN,
  // MPICH ends the program.
  void run(void* buffer, std::size_t count, MPI_Datatype type);

  // How a message that does not fit into memory is sent: in segments of `segment_bytes`, at most
  // `segments_per_tree` of each tree at a time, so that they all fit into `buffer_bytes` on every
  // rank. The segment size is that of run(), or smaller where the buffer requires it.
  struct StreamShape {
    std::uint64_t segment_bytes;
    std::uint64_t segments_per_tree;
    std::size_t trees;
  };
  [[nodiscard]] StreamShape stream_shape(std::uint64_t message_bytes,
                                         std::uint64_t buffer_bytes) const;
  // Collective: sends a message of `bytes` bytes from the source's store to the other stores, in
  // segments of that shape. Throws InputError with ports. Returns false, on all ranks, when a store
  // failed; any part of the message may then be missing anywhere. Rounds need a segments_per_tree
  // of at least 2; a schedule may need more, which the InputError states; stream_shape provides
  // enough. Exchange edges are treated as such where a tree's whole share fits into the buffer.
  [[nodiscard]] bool stream(std::uint64_t bytes, const StreamShape& shape, SegmentStore& store);

  // The rank (in comm) that is the plan's source.
  [[nodiscard]] int root() const;
  // The name of this rank's node in the plan.
  [[nodiscard]] const std::string& node() const;
  // The segment size with which run() sends a message of `message_bytes`.
  [[nodiscard]] std::uint64_t segment_bytes(std::uint64_t message_bytes) const;
  // The time that the plan predicts for such a message in such segments (planner::pipelined_time).
  [[nodiscard]] Seconds predicted_time(std::uint64_t message_bytes,
                                       std::uint64_t segment_bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same as the constructor, as a named function.
inline Broadcast plan_on(MPI_Comm comm, const planner::Plan& plan,
                         const BroadcastOptions& options = {}) {
  return {comm, plan, options};
}

// Collective: rank 0 reads the plan file, so only its host needs the file, and all ranks get the
// plan. An error in the file (see planner::read_plan) is thrown on all ranks.
planner::Plan share_plan(MPI_Comm comm, const std::string& file);

}  // namespace espalier::runtime
