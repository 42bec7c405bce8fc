// The signal by which ranks whose stores fail make the source end the broadcast: an empty message
// from each such rank to the source, under a separate tag.
#pragma once

#include <mpi.h>

#include "runtime/transport/request_table.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::runtime {

class AbortSignal {
 public:
  // requests: holds the request of the signal, so that waits for completions include it; must
  // outlive this object.
  AbortSignal(MPI_Comm comm, int rank, int source, int tag, RequestTable& requests)
      : comm_(comm), rank_(rank), source_(source), tag_(tag), requests_(&requests) {}

  // Call it at the start of a run. listen: the source receives the first signal (further ones in
  // finish()).
  void begin(bool listen);
  // Call it when this rank's store has failed. Sends the signal, except on the source.
  void raise();
  [[nodiscard]] bool is_raised() const { return raised_; }
  // On the source: the first signal has arrived.
  void note_received() { received_ = true; }
  // Collective; call it when this rank has finished its segments. Receives the signals that are
  // still in flight. Returns true, on all ranks, if any rank raised the signal. Throws TimedOut.
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
