// Executes a plan on the ranks of an MPI communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "runtime/api/tuned_segments.hpp"

namespace espalier::engine {
class SegmentStore;
}  // namespace espalier::engine

namespace espalier::runtime {

using engine::SegmentStore;
class OwnedComm;
class TransferLog;

enum class RankMapping {
  kByOrder,     // rank i is plan.nodes[i]
  kByHostName,  // the rank that runs on host h (MPI_Get_processor_name, up to the first dot) is
                // plan node h
};

// Must be the same on all ranks. The default windows were chosen by measurement (docs/runtime.md).
// A schedule and rounds are for broadcasts, reduces and allreduces with one root, and so are
// direct_copies, which are ignored elsewhere.
struct CollectiveOptions {
  // Outstanding sends per child of a tree; on the way up, per tree. A reduction's default is larger
  // (ReductionOptions).
  std::size_t sends_in_flight = planner::kSendsInFlight;
  // Posted ahead per tree; on the way up, per child of a tree.
  std::size_t receives_in_flight = planner::kReceivesInFlight;
  // The most sends that a rank has in progress at once, over all children and trees; those of the
  // oldest segments go first. 1: exactly the one-port model. 0: no limit. Not with rounds or a
  // schedule, which limit sends themselves, nor with stream(). In an allreduce, for each of its
  // halves; where parts are routed, for what a rank has for others, not for what it passes on.
  std::size_t ports = 0;
  RankMapping mapping = RankMapping::kByOrder;
  // Ranks that share a host pass segments through shared memory, and all copy from the one of them
  // that a tree reaches first (runtime/memory/direct_copies.hpp); what is combined goes along the
  // plan's edges. Off: they send segments along the plan's edges by MPI, as hosts do. Always off
  // with rounds, a schedule or ports, and in trees with exchange edges.
  bool direct_copies = true;
  // Bytes of a segment, 1 to 1 GiB; a reduction rounds them down to whole elements (at least one).
  // 0: chosen for the message and the plan (planner/plan/segment_choice.hpp), at most the plan's
  // segment; always the plan's segment with rounds or a schedule, and where all ranks share a host.
  std::uint64_t segment_bytes = 0;
  // Segment sizes for messages of about these sizes (segment_tuned_for), ascending by message. Not
  // with segment_bytes, rounds or schedule.
  std::vector<TunedSegment> tuned;
  double tuned_within = kTunedWithin;  // the meaning of "about", at least 1; infinity: all sizes
  // Compare the message's size among the ranks while it is sent (in a reduction also the type and
  // the operation), so that a mismatch is an error instead of a hang. Costs no bandwidth, but a
  // rank leaves run() only when all ranks have entered it.
  bool check_sizes = true;
  // Synchronised rounds given by the plan's colors (engine/rounds.hpp): in a round a rank
  // sends at most one segment and receives at most one, whatever the windows. Refused: a plan
  // without colors, with exchange edges, with trees of different rates, or in which a node would
  // send or receive twice in a round. Off: colors are ignored.
  bool rounds = false;
  // Follow the plan's periodic schedule (engine/timetable.hpp): a rank begins its sends in
  // the order of the schedule, sends_in_flight at a time over all trees, and its receives likewise.
  // If segments differ in size from the plan's, periods scale in proportion. A plan without a
  // schedule is refused. Off: schedules are ignored.
  bool schedule = false;
  // A rank gives up when none of its sends and receives has completed for this long. TimedOut
  // (runtime/transport/mpi_error.hpp) reports the operations that it waits for, and their peers.
  // Afterwards MPI is of little use: MPI_Finalize may wait indefinitely, MPI_Abort ends all ranks.
  // Where ranks wait for one another as a whole (construction, the end of stream()), twice the time
  // that the plan predicts is added. MPI's own reduction, where it runs instead, has no timeout.
  // Unset: wait indefinitely.
  std::optional<Seconds> timeout;
  // Records what this rank sends and receives, and when; must outlive the collective. Null: no
  // record.
  TransferLog* transfers = nullptr;
  // Called on this rank during a message, with the number of its bytes that this rank has finished
  // (in an allreduce, of its broadcast half). May be empty.
  std::function<void(std::uint64_t)> on_progress;
};

// A plan bound to a communicator: construct it once (collective), run it any number of times. The
// plan determines the operation. Destroy it before MPI_Finalize.
//
// Threads: what MPI's own thread level allows. With MPI_THREAD_MULTIPLE several threads may use
// collectives at the same time, each its own, as long as the ranks construct those of one
// communicator in the same order. A second call of one collective at the same time is an
// InputError.
class Collective {
 public:
  // Collective over `comm`, which is duplicated. Throws InputError on all ranks when the numbers of
  // ranks and of plan nodes differ (the message gives both), when a rank's host is not a node of
  // the plan (kByHostName), when the plan has a structural fault or cannot be run with these
  // options, or when the ranks have different plans or options; MpiError when MPI fails; TimedOut.
  Collective(MPI_Comm comm, const planner::Plan& plan, const CollectiveOptions& options = {});
  // The same on a communicator that several plans share, which all ranks run in the same order.
  Collective(const OwnedComm& comm, const planner::Plan& plan, const CollectiveOptions& options);
  ~Collective();
  Collective(Collective&&) noexcept;
  Collective& operator=(Collective&&) noexcept;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  // Collective, for a broadcast. The data is in `buffer` on the plan's source; every other rank
  // receives it in `buffer`. count elements of `type`, contiguous or not; any count, including 0.
  // The types may differ among ranks where MPI_Bcast allows it. Ranks that only help (see
  // receives_all) need a buffer as well, of which an unspecified part is overwritten.
  //
  // Both kinds of run() throw InputError when the ranks' messages differ in bytes, MpiError (naming
  // segment, tree and peer) when MPI fails, TimedOut. After an exception the buffers' contents are
  // undefined, and this object cannot run again. MPICH handles a failed request by the error
  // handler of MPI_COMM_WORLD, whatever the request's communicator: unless that handler is
  // MPI_ERRORS_RETURN, MPICH ends the program.
  void run(void* buffer, std::size_t count, MPI_Datatype type);

  // Collective, for a reduce (result on root() only) or an allreduce (result on all ranks), as
  // MPI_Reduce and MPI_Allreduce. sendbuf: may be MPI_IN_PLACE, with the rank's own elements in
  // recvbuf, on ranks with a result. recvbuf: unused on the others. Any count, including 0; any
  // type on which `op` is defined.
  //
  // Commutative operations run along the plan's trees. Children are combined in the plan's order,
  // so the same plan, segment size and data always give the same result, including rounding. MPI's
  // own function runs instead, on the duplicated communicator, for operations that are not
  // commutative, types whose extent is not positive, an allreduce of elements with holes or of over
  // 1 GiB, and a single rank.
  //
  // Also throws TimedOut as above, and InputError when `op` is not defined on `type`, for
  // MPI_IN_PLACE on a rank where it is not allowed, when the ranks' types or operations differ, or
  // when there is not enough memory for the windows.
  void run(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type, MPI_Op op);

  // Collective, for an allgather, as MPI_Allgatherv with one type: every rank's part to all ranks.
  // counts, first: of each rank (in comm), the elements of its part, and where it begins in
  // recvbuf, in elements; counts are the same on all ranks, and may be 0. Empty `first`: the parts
  // follow one another. sendbuf: this rank's part; MPI_IN_PLACE if it is in its place in recvbuf.
  // Elements with holes cost memory for a packed copy of the whole message.
  void allgather(const void* sendbuf, void* recvbuf, std::span<const std::size_t> counts,
                 std::span<const std::size_t> first, MPI_Datatype type);

  // Collective, for a reduce-scatter, as MPI_Reduce_scatter: the combination of all ranks' sendbuf,
  // of which each rank keeps its part, in recvbuf. counts: of each rank (in comm), the elements of
  // its part; the same on all ranks, and may be 0. sendbuf: all parts, one after another; may be
  // MPI_IN_PLACE, with all parts in recvbuf, whose contents behind the result are then undefined.
  // What runs along trees, and exceptions, as for a reduce.
  void reduce_scatter(const void* sendbuf, void* recvbuf, std::span<const std::size_t> counts,
                      MPI_Datatype type, MPI_Op op);

  // Collective, for a scatter, as MPI_Scatterv with one type: every rank gets its part of what the
  // root has. counts, first: of each rank (in comm), the elements of its part, and where it begins
  // in sendbuf, in elements; counts are the same on all ranks, and may be 0. Empty `first`: the
  // parts follow one another. sendbuf, first: matter on the root. recvbuf: for this rank's part;
  // MPI_IN_PLACE on the root leaves its part where it is.
  //
  // Ranks also forward other ranks' parts, in small buffers of their own. Elements with holes cost
  // memory for packed copies. All routed calls throw InputError, on all ranks, for a part of a rank
  // to which the plan has no path, besides the exceptions of run().
  void scatter(const void* sendbuf, void* recvbuf, std::span<const std::size_t> counts,
               std::span<const std::size_t> first, MPI_Datatype type);

  // Collective, for a gather, as MPI_Gatherv with one type: the root gets the parts of all ranks.
  // counts, first: as for a scatter, of recvbuf. recvbuf, first: matter on the root. sendbuf: this
  // rank's part; MPI_IN_PLACE on the root if it is in its place in recvbuf.
  void gather(const void* sendbuf, void* recvbuf, std::span<const std::size_t> counts,
              std::span<const std::size_t> first, MPI_Datatype type);

  // Collective, for an alltoall, as MPI_Alltoall with one type: every rank has a part of `count`
  // elements for each rank, in rank order, and gets one from each. MPI_IN_PLACE as sendbuf: what it
  // sends is in recvbuf, of which a copy is made.
  void alltoall(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type);

  // The same with parts of different sizes, as MPI_Alltoallv: counts and beginnings, in elements,
  // of the parts for and from each rank. Empty beginnings: the parts follow one another. With
  // MPI_IN_PLACE, sendcounts and sendfirst do not matter. First shares all counts among the ranks,
  // because ranks that forward a part need to know its size; throws InputError on all ranks if what
  // one rank sends to another is not what the other expects.
  void alltoallv(const void* sendbuf, std::span<const std::size_t> sendcounts,
                 std::span<const std::size_t> sendfirst, void* recvbuf,
                 std::span<const std::size_t> recvcounts, std::span<const std::size_t> recvfirst,
                 MPI_Datatype type);

  // Collective, for a barrier: returns when all ranks have called it.
  void barrier();

  // Begins a call without waiting for its end. call: makes one of the calls above, of its argument,
  // which is this object. The buffers belong to the call until it is complete; lists of counts are
  // copied. The message makes progress in this call, and while this thread is in test() or wait()
  // of any collective; they are for the thread that began the call. At once, before this returns:
  // an alltoallv shares its counts among the ranks; errors of the call are thrown; and MPI's own
  // reductions run where they run instead of the trees. Collectives whose calls are in progress at
  // the same time need communicators of their own, not a shared OwnedComm.
  void start(const std::function<void(Collective&)>& call);
  // Whether the call that has begun is complete, or none has begun; then the next one may begin.
  // If not, the message makes progress. Both throw as the call would.
  [[nodiscard]] bool test();
  // Waits until it is complete.
  void wait();

  // How a message that does not fit into memory is broadcast: in segments of `segment_bytes`, at
  // most `segments_per_tree` of each tree at a time, so that they all fit into `buffer_bytes` on
  // every rank. The segment size is that of run(), or smaller where the buffer requires it.
  struct StreamShape {
    std::uint64_t segment_bytes;
    std::uint64_t segments_per_tree;
    std::size_t trees;
  };
  [[nodiscard]] StreamShape stream_shape(std::uint64_t message_bytes,
                                         std::uint64_t buffer_bytes) const;
  // Collective: broadcasts `bytes` bytes from the source's store to the other stores, in segments
  // of that shape. Throws InputError with ports. Returns false, on all ranks, when a store failed;
  // any part of the message may then be missing anywhere. Rounds need a segments_per_tree of at
  // least 2; a schedule may need more, which the InputError states; stream_shape provides enough.
  // Exchange edges are treated as such where a tree's whole share fits into the buffer.
  [[nodiscard]] bool stream(std::uint64_t bytes, const StreamShape& shape, SegmentStore& store);

  [[nodiscard]] planner::Operation operation() const;
  // Of an operation whose message has a part for each rank: the share of the message that the plan
  // has for each rank's part; sum 1. A rank without a share has no part. Of an alltoall: the part
  // from each rank to each, sender by sender, as a share of what one rank sends on average; sum
  // ranks(). Of other operations: empty.
  [[nodiscard]] std::vector<double> shares() const;
  // The rank (in comm) that is the plan's source; 0 where every rank is a root.
  [[nodiscard]] int root() const;
  // Whether this rank has the whole message after a broadcast; false: it only copies parts of it on
  // the way to others (planner::PlanBlock::members).
  [[nodiscard]] bool receives_all() const;
  // In comm.
  [[nodiscard]] std::size_t ranks() const;
  // The name of this rank's node in the plan.
  [[nodiscard]] const std::string& node() const;
  // The segment size with which run() sends a message of `message_bytes`. element_bytes, at least
  // 1: matters to a reduction, whose segments are whole elements.
  [[nodiscard]] std::uint64_t segment_bytes(std::uint64_t message_bytes,
                                            std::uint64_t element_bytes = 1) const;
  // The time that the plan predicts for such a message in such segments (planner::pipelined_time),
  // without the time for combining.
  [[nodiscard]] Seconds predicted_time(std::uint64_t message_bytes,
                                       std::uint64_t segment_bytes) const;

 protected:
  enum class Expects : std::uint8_t { kAny, kBroadcast, kReduction };
  Collective(MPI_Comm comm, const planner::Plan& plan, const CollectiveOptions& options,
             Expects expects);
  Collective(const OwnedComm& comm, const planner::Plan& plan, const CollectiveOptions& options,
             Expects expects);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// planner::read_plan for a text whose origin is `file`.
planner::Plan checked_plan(const std::string& text, const std::string& file,
                           planner::Roots roots = planner::Roots::kOne);
// Collective: rank 0 reads the plan file, so only its host needs the file, and all ranks get the
// plan, the others without PlanTree::via, which no rank needs. An error in the file (see
// planner::read_plan) is thrown on all ranks.
planner::Plan share_plan(MPI_Comm comm, const std::string& file,
                         planner::Roots roots = planner::Roots::kOne);

}  // namespace espalier::runtime
