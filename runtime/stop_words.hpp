// How ranks whose stores fail tell the source, which then ends the broadcast: an empty message
// each, under a tag of its own.
#pragma once

#include <mpi.h>

#include "runtime/patience.hpp"

namespace espalier::runtime {

class StopWords {
 public:
  // request: where the word that is under way is found by who waits for completions; it outlives
  // this.
  StopWords(MPI_Comm comm, int rank, int source, int tag, MPI_Request& request)
      : comm_(comm), rank_(rank), source_(source), tag_(tag), request_(&request) {}

  // A run begins. listen: the source is to hear the first word (it takes the others in settle).
  void begin(bool listen);
  // This rank's store has failed. The source has nobody to tell.
  void say();
  [[nodiscard]] bool said() const { return said_; }
  // On the source: the word that it listened for has come.
  void hear() { heard_ = true; }
  // Collective: every rank is through with its slices. Takes the words that are still on their way.
  // True, on all ranks, when any was said. TimedOut when patience ends.
  bool settle(Patience patience);

 private:
  [[nodiscard]] bool is_source() const { return rank_ == source_; }

  MPI_Comm comm_;
  int rank_;
  int source_;
  int tag_;
  MPI_Request* request_;
  bool said_ = false;
  bool heard_ = false;
};

}  // namespace espalier::runtime
