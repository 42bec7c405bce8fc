// How ranks whose stores fail tell the source, which then ends the broadcast: an empty message
// each, under a tag of its own.
#pragma once

#include <mpi.h>

#include "runtime/transport/request_table.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::runtime {

class AbortSignal {
 public:
  // requests: where the word that is in progress is found by who waits for completions; outlives
  // this.
  AbortSignal(MPI_Comm comm, int rank, int source, int tag, RequestTable& requests)
      : comm_(comm), rank_(rank), source_(source), tag_(tag), requests_(&requests) {}

  // A run begins. listen: the source is to hear the first word (it takes the others in settle).
  void begin(bool listen);
  // This rank's store has failed. The source has nobody to tell.
  void raise();
  [[nodiscard]] bool is_raised() const { return raised_; }
  // On the source: the word that it listened for has come.
  void note_received() { received_ = true; }
  // Collective: every rank is through with its segments. Takes the signals that are still in flight.
  // True, on all ranks, when any was said. TimedOut when timeout ends.
  bool finish(Timeout timeout);

 private:
  [[nodiscard]] bool is_source() const { return rank_ == source_; }
  [[nodiscard]] MPI_Request& request() const { return requests_->abort_request(); }

  MPI_Comm comm_;
  int rank_;
  int source_;
  int tag_;
  RequestTable* requests_;
  bool raised_ = false;
  bool received_ = false;
};

}  // namespace espalier::runtime
