// The times of all ranks' sends and receives, as one file for chrome://tracing and Perfetto.
#pragma once

#include <mpi.h>

#include <string>

#include "runtime/transport/transfer_log.hpp"

namespace espalier::cli {

// The offset of a rank's clock from rank 0's at one time.
struct ClockSample {
  double at_s;      // by this rank's clock
  double offset_s;  // rank 0's time less this rank's
  double error_s;   // upper bound: half the round trip
};

class TraceRecorder {
 public:
  // Collective: compares the ranks' clocks. Throws MpiError, and InputError on all ranks when rank
  // 0 cannot write into the file's folder.
  TraceRecorder(MPI_Comm comm, std::string file);

  // This rank's log. The logs of all ranks have capacity for as many transfers as a trace may have
  // bars.
  [[nodiscard]] runtime::TransferLog& log() { return log_; }
  // Collective: compares the clocks again and gathers all transfers on rank 0, which writes the
  // file. node: this rank's name. quiet: print no summary on stderr. Throws MpiError, and
  // InputError on all ranks when the file cannot be written.
  void write(const std::string& node, bool quiet);

 private:
  MPI_Comm comm_;
  std::string file_;
  runtime::TransferLog log_;
  ClockSample start_;
};

}  // namespace espalier::cli
