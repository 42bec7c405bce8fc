// The times of all ranks' sends and receives, as one file for chrome://tracing and Perfetto.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "cli/espalier_mpi/run/clocks.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"
#include "runtime/transport/transfer_log.hpp"

namespace espalier::cli {

// The record of all ranks' transfers, where a command asks for one. Its functions are collective.
class Tracing {
 public:
  // Compares the ranks' clocks. file: empty: nothing is traced. quiet: print no summary on stderr.
  // Throws MpiError, and InputError on all ranks when rank 0 cannot write into the file's folder.
  Tracing(MPI_Comm comm, std::string file, bool quiet, Watchdog& watchdog);

  // Of this rank, for the options of what is traced; null if nothing is. The logs of all ranks have
  // capacity for as many transfers as a trace may have bars.
  [[nodiscard]] runtime::TransferLog* log() { return log_ ? &*log_ : nullptr; }
  // Compares the clocks again and gathers all transfers on rank 0, which writes the file. node:
  // this rank's name. Throws MpiError, and InputError on all ranks when the file cannot be written.
  void write(const std::string& node);

 private:
  MPI_Comm comm_;
  std::string file_;
  bool quiet_;
  Watchdog* watchdog_;
  std::optional<runtime::TransferLog> log_;
  ClockSample start_{};
};

}  // namespace espalier::cli
