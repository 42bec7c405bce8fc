// The times of all ranks' sends and receives, as one file for chrome://tracing and Perfetto, and as
// a page for a browser.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "cli/espalier_mpi/options/options.hpp"
#include "cli/espalier_mpi/run/clocks.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"
#include "runtime/transport/transfer_log.hpp"

namespace espalier::cli {

// The record of all ranks' transfers, where a command asks for one. Its functions are collective.
class Tracing {
 public:
  // Compares the ranks' clocks, if the arguments ask for a trace or a page. Throws MpiError, and
  // InputError on all ranks when rank 0 cannot write into the folder of a file, or cannot run the
  // program that makes pages.
  Tracing(MPI_Comm comm, const RunArguments& arguments, Watchdog& watchdog);

  // Of this rank, for the options of what is traced; null if nothing is. The logs of all ranks have
  // capacity for as many transfers as a trace may have bars.
  [[nodiscard]] runtime::TransferLog* log() { return log_ ? &*log_ : nullptr; }
  // Compares the clocks again and gathers all transfers on rank 0, which writes the files. node:
  // this rank's name. network: on rank 0, a platform file for a page without --platform; empty:
  // none. Throws MpiError, and InputError on all ranks when a file cannot be written.
  void write(const std::string& node, const std::string& network = {});

 private:
  // On rank 0.
  void make_page(const std::string& trace, const std::string& network) const;

  MPI_Comm comm_;
  RunArguments arguments_;
  Watchdog* watchdog_;
  std::optional<runtime::TransferLog> log_;
  ClockSample start_{};
};

}  // namespace espalier::cli
