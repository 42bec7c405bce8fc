// The state of the preloaded library in a process, and what it does in place of MPI's functions.
//
// Ranks never talk in order to decide: whether a call is taken depends on the message's bytes, type
// and operation, the root and the communicator, which MPI has alike on all ranks, and on what they
// agreed upon at the first such call. These functions are collective, so that this may be talked
// over.
#pragma once

#include <mpi.h>

#include <array>
#include <list>
#include <memory>
#include <optional>

#include "runtime/preload/communicator.hpp"
#include "runtime/preload/shared_settings.hpp"
#include "runtime/preload/tally.hpp"

namespace espalier::preload {

class Interposer {
 public:
  // The process's one. It is never destroyed: MPI calls back while the process ends.
  static Interposer& get();

  // After MPI_Init; collective over MPI_COMM_WORLD the first time, then without effect.
  void started();
  // Whether a call is none of the library's business: one of its own, or it does not take part.
  [[nodiscard]] bool stands_aside() const { return !active_ || inside_; }
  // MPI_Bcast, MPI_Reduce, MPI_Allreduce, in full. They return MPI's error code, and have called
  // the communicator's error handler where that is not MPI_SUCCESS. Precondition: !stands_aside().
  int broadcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
  int reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
             int root, MPI_Comm comm);
  int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                MPI_Comm comm);

 private:
  class Inside;
  // What decides whether a call is taken.
  struct Call {
    planner::Operation operation;
    MPI_Count count;
    MPI_Datatype type;
    int root;  // of an allreduce 0
    MPI_Comm comm;
    MPI_Op op = MPI_OP_NULL;        // of a reduction
    const void* sendbuf = nullptr;  // of a reduction
    const void* recvbuf = nullptr;  // of a broadcast its only one
  };

  void start();
  void finish();  // as the first thing in MPI_Finalize
  // call_mpi: calls MPI's own function. along: the plan's way, given its runner.
  template <class CallMpi, class Along>
  int decide(const Call& call, const CallMpi& call_mpi, const Along& along);
  // The plan to run, or null: the call is MPI's.
  ReadyPlan* taken(const Call& call, std::uint64_t bytes);
  // Whether MPI itself refuses the call for its buffers, without asking other ranks.
  [[nodiscard]] static bool has_wrong_buffers(const Call& call);
  Communicator& known(MPI_Comm comm);
  void count_left_to_mpi(Reason reason, const Call& call);
  void report(const ReadyPlan& ready, const Call& call, std::uint64_t bytes, double seconds);
  Tally& tally_of(planner::Operation operation) {
    return tallies_[static_cast<std::size_t>(operation)];
  }
  void print_summaries() const;

  static int forget_communicator(MPI_Comm comm, int key, void* value, void* self);
  static int finish_first(MPI_Comm comm, int key, void* value, void* self);

  bool was_started_ = false;
  bool active_ = false;
  bool inside_ = false;
  int key_ = MPI_KEYVAL_INVALID;
  std::optional<SharedSettings> shared_;
  std::optional<PlanMaker> maker_;
  std::list<Communicator> communicators_;  // in the order of their first use
  std::array<Tally, 3> tallies_;           // by operation
};

}  // namespace espalier::preload
