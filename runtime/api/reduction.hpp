// Executing a reduce or an allreduce plan on the ranks of an MPI communicator.
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

// The same on all ranks.
struct ReductionOptions {
  // Outstanding sends per tree; in an allreduce's broadcast per child of a tree. Between hosts an
  // allreduce has 96 KiB of a tree outstanding at least, in segments up to 256.
  // More than for a broadcast alone: each is answered by its receiver (docs/runtime.md,
  // "Reductions").
  std::size_t sends_in_flight = planner::kReductionSendsInFlight;
  // Posted ahead per child of a tree; in an allreduce's broadcast per tree.
  std::size_t receives_in_flight = planner::kReceivesInFlight;
  // Sends of a rank that are in progress at once, over all trees; 0: any number. In an allreduce,
  // of each of its halves.
  std::size_t ports = 0;
  RankMapping mapping = RankMapping::kByOrder;
  // Bytes of a segment, 1 to 1 GiB, cut down to whole elements (one at least). 0: as for a
  // broadcast.
  std::uint64_t segment_bytes = 0;
  // As for a broadcast, cut down likewise. Not with segment_bytes.
  std::vector<TunedSegment> tuned;
  double tuned_within = kTunedWithin;
  // Compare the message's size, the type and the operation among the ranks while it runs, so that a
  // mismatch is an error and no hang. A rank leaves run() only when all have entered it; what
  // MPI would ask for before it is sent is received only then.
  bool check_sizes = true;
  // As for a broadcast: bytes of a message that this rank is done with. In an allreduce, of its
  // broadcast. May be empty.
  std::function<void(std::uint64_t)> on_progress;
};

// A plan bound to a communicator: made once (collective), run as often as wanted. Destroy before
// MPI_Finalize. Whether it is a reduce (the result is on root() alone) or an allreduce (on all
// ranks), the plan says.
class Reduction {
 public:
  // Collective over `comm`, which is duplicated. Throws as Broadcast does; InputError also for a
  // plan for a broadcast.
  Reduction(MPI_Comm comm, const planner::Plan& plan, const ReductionOptions& options = {});
  ~Reduction();
  Reduction(Reduction&&) noexcept;
  Reduction& operator=(Reduction&&) noexcept;
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  // Collective: MPI_Reduce or MPI_Allreduce of count elements. sendbuf: MPI_IN_PLACE where the
  // rank's own elements are in recvbuf (on the root; in an allreduce on any rank). recvbuf: unused
  // on the other ranks of a reduce. Any count, 0 included; a type of any shape, where `op` is
  // defined on it.
  //
  // Along the plan's trees go commutative operations. Children are combined in the plan's order, so
  // that the same plan, segment size and data give the same result each time, rounding included.
  // MPI's own MPI_Reduce or MPI_Allreduce runs instead, on a communicator of our own, for
  // operations that are not commutative, types whose extent is not positive, an allreduce of
  // elements with holes or of over 1 GiB, and a single rank.
  //
  // Throws InputError when `op` is not defined on `type`, for MPI_IN_PLACE where it has no meaning,
  // when the ranks' messages, types or operations differ (check_sizes), when there is no memory for
  // the windows; MpiError (naming segment, tree and peer) when MPI fails. After a throw recvbuf may
  // hold anything, and this object cannot run again. Of error handlers the same holds as for
  // Broadcast::run; MPI_Reduce_local asks MPI_COMM_WORLD's as well.
  void run(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type, MPI_Op op);

  // kReduce or kAllreduce.
  [[nodiscard]] planner::Operation operation() const;
  // The rank (in comm) that is the plan's source.
  [[nodiscard]] int root() const;
  // The plan's node that this rank is.
  [[nodiscard]] const std::string& node() const;
  // In segments of how many bytes run() cuts a message of so many bytes in elements of
  // `element_bytes`, at least 1.
  [[nodiscard]] std::uint64_t segment_bytes(std::uint64_t message_bytes,
                                            std::uint64_t element_bytes) const;
  // The time that the plan foresees for such a message in such segments (planner::pipelined_time):
  // what the combining takes is not in it.
  [[nodiscard]] Seconds foreseen(std::uint64_t message_bytes, std::uint64_t segment_bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether an operation on such elements goes along a plan's trees, or is left to MPI
// (Reduction::run). False where MPI does not define it. operation: kReduce or kAllreduce; type, op:
// no null handles. Throws MpiError.
bool goes_along_trees(planner::Operation operation, MPI_Datatype type, MPI_Op op);

}  // namespace espalier::runtime
