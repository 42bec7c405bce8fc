// Executes a reduce or an allreduce plan on the ranks of an MPI communicator.
//
//   espalier::runtime::Reduction reduction(comm, espalier::planner::read_plan("plan.json"));
//   reduction.run(sendbuf, recvbuf, count, MPI_DOUBLE, MPI_SUM);
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "runtime/api/broadcast.hpp"

namespace espalier::runtime {

// Must be the same on all ranks.
struct ReductionOptions {
  // Outstanding sends per tree; in the broadcast half of an allreduce, per child of a tree. Between
  // hosts an allreduce has at least 96 KiB of a tree outstanding, in at most 256 segments. The
  // default is larger than a broadcast's because the receiver answers each send (docs/runtime.md,
  // "Reductions").
  std::size_t sends_in_flight = planner::kReductionSendsInFlight;
  // Posted ahead per child of a tree; in the broadcast half of an allreduce, per tree.
  std::size_t receives_in_flight = planner::kReceivesInFlight;
  // The most sends that a rank has in progress at once, over all trees; 0: no limit. In an
  // allreduce, for each of its halves separately.
  std::size_t ports = 0;
  RankMapping mapping = RankMapping::kByOrder;
  // Bytes of a segment, 1 to 1 GiB, rounded down to whole elements (at least one). 0: as for a
  // broadcast.
  std::uint64_t segment_bytes = 0;
  // As for a broadcast, rounded down likewise. Not with segment_bytes.
  std::vector<TunedSegment> tuned;
  double tuned_within = kTunedWithin;
  // Compare the message's size, the type and the operation among the ranks during the reduction, so
  // that a mismatch is an error instead of a hang. A rank leaves run() only when all ranks have
  // entered it; segments that MPI sends by a rendezvous are received only after the comparison.
  bool check_sizes = true;
  // As for a broadcast: the number of bytes of a message that this rank has finished. In an
  // allreduce, those of its broadcast half. May be empty.
  std::function<void(std::uint64_t)> on_progress;
};

// A plan bound to a communicator: construct it once (collective), run it any number of times.
// Destroy it before MPI_Finalize. The plan determines whether it is a reduce (result on root()
// only) or an allreduce (result on all ranks).
class Reduction {
 public:
  // Collective over `comm`, which is duplicated. Throws as Broadcast does, and InputError for a
  // plan for a broadcast.
  Reduction(MPI_Comm comm, const planner::Plan& plan, const ReductionOptions& options = {});
  ~Reduction();
  Reduction(Reduction&&) noexcept;
  Reduction& operator=(Reduction&&) noexcept;
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  // Collective: MPI_Reduce or MPI_Allreduce of count elements. sendbuf: may be MPI_IN_PLACE, with
  // the rank's own elements in recvbuf, on the root of a reduce and on any rank of an allreduce.
  // recvbuf: unused on the other ranks of a reduce. Any count, including 0; any type on which `op`
  // is defined.
  //
  // Commutative operations run along the plan's trees. Children are combined in the plan's order,
  // so the same plan, segment size and data always give the same result, including rounding. MPI's
  // own MPI_Reduce or MPI_Allreduce runs instead, on the duplicated communicator, for operations
  // that are not commutative, types whose extent is not positive, an allreduce of elements with
  // holes or of over 1 GiB, and a single rank.
  //
  // Throws InputError when `op` is not defined on `type`, for MPI_IN_PLACE on a rank where it is
  // not allowed, when the ranks' messages, types or operations differ (check_sizes), or when there
  // is not enough memory for the windows; MpiError (naming segment, tree and peer) when MPI fails.
  // After an exception the contents of recvbuf are undefined, and this object cannot run again. For
  // error handlers see Broadcast::run; MPI_Reduce_local also uses that of MPI_COMM_WORLD.
  void run(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type, MPI_Op op);

  // kReduce or kAllreduce.
  [[nodiscard]] planner::Operation operation() const;
  // The rank (in comm) that is the plan's source.
  [[nodiscard]] int root() const;
  // The name of this rank's node in the plan.
  [[nodiscard]] const std::string& node() const;
  // The segment size with which run() sends a message of `message_bytes` in elements of
  // `element_bytes`, at least 1.
  [[nodiscard]] std::uint64_t segment_bytes(std::uint64_t message_bytes,
                                            std::uint64_t element_bytes) const;
  // The time that the plan predicts for such a message in such segments (planner::pipelined_time),
  // without the time for combining.
  [[nodiscard]] Seconds predicted_time(std::uint64_t message_bytes,
                                       std::uint64_t segment_bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether an operation on such elements runs along a plan's trees (otherwise MPI's own reduction
// runs, see Reduction::run). False where MPI does not define it. operation: kReduce or kAllreduce;
// type, op: not null handles. Throws MpiError.
bool goes_along_trees(planner::Operation operation, MPI_Datatype type, MPI_Op op);

}  // namespace espalier::runtime
