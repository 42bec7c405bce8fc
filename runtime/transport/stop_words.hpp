// How ranks whose stores fail tell the source, which then ends the broadcast: an empty message
// each, under a tag of its own.
#pragma once

#include <mpi.h>

#include "runtime/transport/patience.hpp"
#include "runtime/transport/request_table.hpp"

namespace espalier::runtime {

class StopWords {
 public:
  // requests: where the word that is under way is found by who waits for completions; outlives
  // this.
  StopWords(MPI_Comm comm, int rank, int source, int tag, RequestTable& requests)
      : comm_(comm), rank_(rank), source_(source), tag_(tag), requests_(&requests) {}

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
  [[nodiscard]] MPI_Request& word() const { return requests_->stop_word(); }

  MPI_Comm comm_;
  int rank_;
  int source_;
  int tag_;
  RequestTable* requests_;
  bool said_ = false;
  bool heard_ = false;
};

}  // namespace espalier::runtime
