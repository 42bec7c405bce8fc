// espalier-mpi bcast.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "cli/espalier_mpi_options.hpp"
#include "cli/espalier_mpi_watchdog.hpp"
#include "runtime/broadcast.hpp"

namespace espalier::cli {

// What was measured. The same on all ranks.
struct BcastFigures {
  std::uint64_t message_bytes = 0;
  std::uint64_t slice_bytes = 0;
  std::vector<double> seconds;            // one a repeat
  std::vector<double> mpi_bcast_seconds;  // in turns with them, when asked for
  bool verified = false;
  std::uint64_t resumed_bytes = 0;  // that were there from an earlier run, beside the message's
};

// A test message in memory. Throws CheckFailed on all ranks when a byte differs.
BcastFigures broadcast_message(MPI_Comm comm, runtime::Broadcast& broadcast,
                               const BcastArguments& arguments, Watchdog& watchdog);

// A file to every rank. Throws InputError, CheckFailed on all ranks alike; then no output is left.
BcastFigures broadcast_file(MPI_Comm comm, runtime::Broadcast& broadcast,
                            const BcastArguments& arguments, Watchdog& watchdog);

// The whole command: reads the plan, runs, prints on rank 0. Throws on all ranks alike, but for
// MpiError.
void run_bcast(MPI_Comm comm, BcastArguments arguments, Watchdog& watchdog);

}  // namespace espalier::cli
