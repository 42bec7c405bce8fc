// What every rank sent and received when, as one file for chrome://tracing and Perfetto.
#pragma once

#include <mpi.h>

#include <string>

#include "runtime/transport/transfer_log.hpp"

namespace espalier::cli {

// What a rank's clock has to be moved by to be rank 0's, as seen at one time.
struct ClockSample {
  double at_s;      // by this rank's clock
  double offset_s;  // rank 0's time less this rank's
  double error_s;   // at most, if messages take at most the round trip's time one way
};

class TraceRecorder {
 public:
  // Collective: compares the ranks' clocks. Throws InputError, on all ranks, where rank 0 cannot
  // write into the file's folder; MpiError.
  TraceRecorder(MPI_Comm comm, std::string file);

  // Of this rank; all together hold as many transfers as a trace may have bars.
  [[nodiscard]] runtime::TransferLog& log() { return log_; }
  // Collective: compares the clocks again, gathers all on rank 0, which writes the file. node: what
  // this rank is called. quiet: without a line on stderr that says what there is. Throws InputError
  // on all ranks when the file cannot be written, MpiError.
  void write(const std::string& node, bool quiet);

 private:
  MPI_Comm comm_;
  std::string file_;
  runtime::TransferLog log_;
  ClockSample start_;
};

}  // namespace espalier::cli
