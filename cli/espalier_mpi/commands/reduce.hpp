// espalier-mpi reduce and allreduce.
#pragma once

#include <mpi.h>

#include "cli/espalier_mpi/options/options.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"

namespace espalier::cli {

// What a rank waits for in a reduction, for the watchdog.
inline constexpr const char* kReducing = "waiting for segments of the reduction";

// The whole command: reads the plan, runs it, prints on rank 0. Throws on all ranks, except
// MpiError.
void run_reduce(MPI_Comm comm, ReduceArguments arguments, Watchdog& watchdog);

}  // namespace espalier::cli
