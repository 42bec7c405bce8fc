// Queries of a communicator.
#pragma once

#include <mpi.h>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

// This process's rank in `comm`. Throws MpiError.
inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

// The number of ranks in `comm`. Throws MpiError.
inline int size_of(MPI_Comm comm) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

// The level of threads that MPI provides. SMPI claims MPI_THREAD_SINGLE, but its ranks are not
// threads of the system, and all of them may call it. Throws MpiError.
inline int thread_level() {
#ifdef SMPI_H
  return MPI_THREAD_MULTIPLE;
#else
  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  return level;
#endif
}

}  // namespace espalier::runtime
