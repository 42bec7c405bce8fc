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

// A file to every rank. Throws InputError and CheckFailed on all ranks, and then leaves no output.
Figures broadcast_file(MPI_Comm comm, runtime::Broadcast& broadcast,
                       const BcastArguments& arguments, Watchdog& watchdog);

// The whole command: reads the plan, runs it, prints on rank 0. Throws on all ranks, except
// MpiError.
void run_bcast(MPI_Comm comm, BcastArguments arguments, Watchdog& watchdog);

}  // namespace espalier::cli
