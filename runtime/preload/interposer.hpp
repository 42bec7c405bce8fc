// The state of the preloaded library in a process, and what it does in place of MPI's functions.
//
// Ranks never talk in order to decide: whether a call is taken depends on the message's bytes, the
// root and the communicator, which MPI has alike on all ranks, and on what they agreed upon at the
// first such call. MPI_Bcast is collective, so that this may be talked over.
#pragma once

#include <mpi.h>

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
  // MPI_Bcast, in full. Returns MPI's error code, and has called the communicator's error handler
  // where that is not MPI_SUCCESS. Precondition: !stands_aside().
  int broadcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);

 private:
  class Inside;

  void start();
  void finish();  // as the first thing in MPI_Finalize
  // The broadcast to run, or null: the call is MPI's.
  ReadyBroadcast* taken(int root, MPI_Comm comm);
  Communicator& known(MPI_Comm comm);
  void count_handed_on(Reason reason, int root, MPI_Comm comm);
  void run(ReadyBroadcast& ready, void* buffer, MPI_Count count, MPI_Datatype type, int root,
           MPI_Comm comm, std::uint64_t bytes);
  void print_summary() const;

  static int forget_communicator(MPI_Comm comm, int key, void* value, void* self);
  static int finish_first(MPI_Comm comm, int key, void* value, void* self);

  bool was_started_ = false;
  bool active_ = false;
  bool inside_ = false;
  int key_ = MPI_KEYVAL_INVALID;
  std::optional<SharedSettings> shared_;
  std::optional<PlanMaker> maker_;
  std::list<Communicator> communicators_;  // in the order of their first use
  Tally tally_;
};

}  // namespace espalier::preload
