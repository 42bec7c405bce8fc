#include "cli/espalier_mpi/run/clocks.hpp"

#include <limits>

#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::cli {

// Cristian's method, rank by rank: takes the shortest of several round trips to rank 0; half of it
// bounds the error (Distributed Computing 3 (1989), doi:10.1007/BF01784024).
ClockSample compare_clocks(MPI_Comm comm, double (*clock)()) {
  constexpr int kClockTag = 2;
  constexpr int kPings = 10;
  using runtime::check;
  double theirs = 0;
  if (runtime::rank_in(comm) == 0) {
    for (int rank = 1; rank < runtime::size_of(comm); ++rank) {
      for (int ping = 0; ping < kPings; ++ping) {
        check(MPI_Recv(nullptr, 0, MPI_BYTE, rank, kClockTag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
        theirs = clock();
        check(MPI_Send(&theirs, 1, MPI_DOUBLE, rank, kClockTag, comm), "MPI_Send");
      }
    }
    return {clock(), 0, 0};
  }
  ClockSample best{0, 0, std::numeric_limits<double>::infinity()};
  for (int ping = 0; ping < kPings; ++ping) {
    const double sent = clock();
    check(MPI_Sendrecv(nullptr, 0, MPI_BYTE, 0, kClockTag, &theirs, 1, MPI_DOUBLE, 0, kClockTag,
                       comm, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
    const double back = clock();
    const double error = (back - sent) / 2;
    if (error < best.error_s) best = {sent + error, theirs - (sent + error), error};
  }
  return best;
}

}  // namespace espalier::cli
