// What the tests under mpirun need besides plans of known shapes.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "runtime/api/broadcast.hpp"
#include "tests/support/plans.hpp"

namespace espalier::testing {

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline std::uint32_t size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return static_cast<std::uint32_t>(size);
}

// Segments are sent along the plan's edges, although the tests' ranks share a host.
inline runtime::BroadcastOptions as_planned() {
  runtime::BroadcastOptions options;
  options.direct_copies = false;
  return options;
}

}  // namespace espalier::testing
