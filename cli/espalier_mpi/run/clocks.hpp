// Compares the clocks of the ranks.
#pragma once

#include <mpi.h>

namespace espalier::cli {

// The offset of a rank's clock from rank 0's at one time.
struct ClockSample {
  double at_s;      // by this rank's clock
  double offset_s;  // rank 0's time less this rank's
  double error_s;   // upper bound: half the round trip
};

// Collective. clock: the time in seconds, such as MPI_Wtime. Throws MpiError.
ClockSample compare_clocks(MPI_Comm comm, double (*clock)());

}  // namespace espalier::cli
