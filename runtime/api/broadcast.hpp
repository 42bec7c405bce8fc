// Executing a broadcast plan on the ranks of an MPI communicator.
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

// The same on all ranks. The windows' defaults are measured (docs/runtime.md).
struct BroadcastOptions {
  std::size_t sends_in_flight = planner::kSendsInFlight;  // outstanding sends per child of a tree
  std::size_t receives_in_flight = 4;                     // posted ahead per tree
  // Sends of a rank that are in progress at once, over all children and trees, the oldest segments
  // first: 1 is the one-port model to the letter. 0: any number. Not by rounds or by schedule,
  // which are that anyway, nor with stream().
  std::size_t ports = 0;
  RankMapping mapping = RankMapping::kByOrder;
  // Ranks that share a host all copy from the one of them that a tree reaches first
  // (runtime/memory/direct_copies.hpp). Off: they pass segments on along the plan's edges, as hosts
  // do. By rounds or schedule, with ports and in trees with exchange edges always off.
  bool direct_copies = true;
  // Bytes of a segment, 1 to 1 GiB. 0: what suits message and plan
  // (planner/plan/segment_choice.hpp), the plan's segment at most; by rounds or schedule, and where
  // all ranks share a host, always the plan's.
  std::uint64_t segment_bytes = 0;
  // Segments of messages of about these sizes (segment_tuned_for), instead; ascending by message.
  // Not with segment_bytes, rounds or schedule.
  std::vector<TunedSegment> tuned;
  double tuned_within = kTunedWithin;  // what "about" means, at least 1; infinity: all messages
  // Compare the message's size among the ranks while it runs, so that a mismatch is an error and no
  // hang. Costs no bandwidth, but a rank leaves run() only when all have entered it.
  bool check_sizes = true;
  // Synchronised rounds by the plan's colors (runtime/engine/rounds.hpp), in which a rank sends one
  // segment and receives one at a time, whatever the windows. A plan without colors, or with a node
  // that would send or receive twice in a round, with exchange edges or with trees of different
  // rates is refused. Off: colors are ignored.
  bool rounds = false;
  // By the plan's periodic schedule (runtime/engine/timetable.hpp): a rank begins its sends in the
  // order in which the schedule has them, sends_in_flight at a time over all trees, and its
  // receives likewise. With segments of another size than the plan's, periods are shorter or longer
  // in proportion. A plan without a schedule is refused. Off: schedules are ignored.
  bool schedule = false;
  // How the source waits. Dozing leaves the processor to ranks that have something to copy. kAuto:
  // dozing where there are more ranks than processors on its host.
  enum class Waiting { kAuto, kBusy, kDozing };
  Waiting source_waiting = Waiting::kAuto;
  // A rank that waits so long without any of its sends and receives getting done gives up: TimedOut
  // (runtime/transport/mpi_error.hpp) says what it waits for, and from whom. Then MPI is of little
  // use any more: MPI_Finalize may wait indefinitely, MPI_Abort ends all. Where ranks wait for each
  // other as such (made, stream()'s end) the time that the plan foresees comes on top, twice.
  // Unset: for ever.
  std::optional<Seconds> timeout;
  // Notes what this rank sends and receives when; outlives the broadcast. Null: nothing is noted.
  TransferLog* transfers = nullptr;
  // Called on this rank as a message proceeds, with the bytes of it that this rank is done with.
  // May be empty.
  std::function<void(std::uint64_t)> on_progress;
};

// A plan bound to a communicator: made once (collective), run as often as wanted. Destroy before
// MPI_Finalize.
class Broadcast {
 public:
  // Collective over `comm`, which is duplicated. Throws InputError on all ranks when ranks and plan
  // nodes differ in number (says both), when a rank's host is no node of the plan (kByHostName),
  // when the plan has a structural fault or cannot be run as the options ask, or when the ranks
  // hold different plans or options; MpiError when MPI fails; TimedOut.
  Broadcast(MPI_Comm comm, const planner::Plan& plan, const BroadcastOptions& options = {});
  ~Broadcast();
  Broadcast(Broadcast&&) noexcept;
  Broadcast& operator=(Broadcast&&) noexcept;
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;

  // Collective. The plan's source holds the data in `buffer`, every other rank receives them there.
  // count elements of `type`, contiguous or not; any count, 0 included. The types may differ among
  // ranks where MPI_Bcast allows it. Throws InputError when the ranks' messages differ in bytes,
  // MpiError (naming segment, tree and peer) when MPI fails, TimedOut. After a throw this object
  // cannot run again. MPICH asks the error handler of MPI_COMM_WORLD what to do about a request
  // that failed, whichever its communicator: unless that is MPI_ERRORS_RETURN, it ends the program
  // itself.
  void run(void* buffer, std::size_t count, MPI_Datatype type);

  // How a message of `message_bytes` that does not fit into memory passes: in segments of
  // `segment_bytes`, of each tree at most `segments_per_tree` at a time, so that they all fit into
  // `buffer_bytes` on every rank. The segment is that of run() where that is small enough.
  struct StreamShape {
    std::uint64_t segment_bytes;
    std::uint64_t segments_per_tree;
    std::size_t trees;
  };
  [[nodiscard]] StreamShape stream_shape(std::uint64_t message_bytes,
                                         std::uint64_t buffer_bytes) const;
  // Collective: a message of `bytes` bytes from the source's store to the others', in segments of
  // that shape. InputError with ports. False, on all ranks, when a store failed; then parts of the
  // message are missing anywhere. Rounds need segments_per_tree of at least 2, a schedule what it
  // says in InputError otherwise; stream_shape gives as much. Exchange edges are honoured as far as
  // a tree's whole share has room.
  [[nodiscard]] bool stream(std::uint64_t bytes, const StreamShape& shape, SegmentStore& store);

  // The rank (in comm) that is the plan's source.
  [[nodiscard]] int root() const;
  // The plan's node that this rank is.
  [[nodiscard]] const std::string& node() const;
  // In segments of how many bytes run() cuts a message of `message_bytes`.
  [[nodiscard]] std::uint64_t segment_bytes(std::uint64_t message_bytes) const;
  // The time that the plan foresees for such a message in such segments (planner::pipelined_time).
  [[nodiscard]] Seconds foreseen(std::uint64_t message_bytes, std::uint64_t segment_bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same as the constructor, for those who like to read what they do.
inline Broadcast plan_on(MPI_Comm comm, const planner::Plan& plan,
                         const BroadcastOptions& options = {}) {
  return {comm, plan, options};
}

// Collective: rank 0 reads the plan file, so that it need be on one node only, and all get the
// plan. A refusal (planner:: read_plan) is thrown on all ranks alike.
planner::Plan share_plan(MPI_Comm comm, const std::string& file);

}  // namespace espalier::runtime
