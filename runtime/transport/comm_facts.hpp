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

}  // namespace espalier::runtime
