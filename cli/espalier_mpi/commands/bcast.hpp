// espalier-mpi bcast.
#pragma once

#include <mpi.h>

#include "cli/espalier_mpi/options/options.hpp"
#include "cli/espalier_mpi/reports/report.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"
#include "runtime/api/broadcast.hpp"

namespace espalier::cli {

// A test message in memory. Throws CheckFailed on all ranks when a byte differs.
Figures broadcast_message(MPI_Comm comm, runtime::Broadcast& broadcast,
                          const BcastArguments& arguments, Watchdog& watchdog);

// A file to every rank. Throws InputError, CheckFailed on all ranks alike; then no output is left.
Figures broadcast_file(MPI_Comm comm, runtime::Broadcast& broadcast,
                       const BcastArguments& arguments, Watchdog& watchdog);

// The whole command: reads the plan, runs, prints on rank 0. Throws on all ranks alike, but for
// MpiError.
void run_bcast(MPI_Comm comm, BcastArguments arguments, Watchdog& watchdog);

}  // namespace espalier::cli
