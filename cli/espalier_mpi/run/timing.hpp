// Measures the time that an operation takes on all ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/espalier_mpi/run/watchdog.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// The time that other ranks' disks may take for `bytes`, as a limit on waiting for them.
Seconds disk_time(std::uint64_t bytes);

// The time that a rank may take to fill or check `bytes` in memory, beside other ranks.
Seconds memory_time(std::uint64_t bytes);

// Report-to-root times, as Pjesivac-Grbovic et al. measure them (Cluster Computing 10 (2007),
// doi:10.1007/s10586-007-0012-0, section 6.1): from the root's start, after a barrier, until the
// last rank has reported to it. With a timeout, ranks that are done hear once a second from those
// that make progress (docs/runtime.md).
class ReportTimer {
 public:
  // root: the rank that collects the reports. preparing: how long a rank may take between rounds;
  // the others wait for it to begin for that time plus the timeout. predicted_time: of one round;
  // ranks that are done wait for others for twice that time plus the timeout, if the act shows no
  // progress. watchdog must outlive this.
  ReportTimer(MPI_Comm comm, int root, Seconds preparing, Seconds predicted_time,
              std::optional<Seconds> timeout, Watchdog& watchdog);

  struct Act {
    std::function<void()> run;
    // The watchdog's message for a rank that does not return; empty: `run` has its own timeout.
    std::string doing;
    // `run` notes its progress (Watchdog::note_progress) as long as it makes any.
    bool shows_progress = false;
  };
  // Collective; the same on all ranks. Throws what the act throws, MpiError, and on the root
  // TimedOut, which names the ranks that have not reported.
  [[nodiscard]] double seconds_of(const Act& act) const;

 private:
  class Signs;
  void collect_reports(Signs& signs, Seconds slack) const;
  // On all ranks but the root: the time that the root has measured.
  [[nodiscard]] double receive_result(Seconds slack) const;

  MPI_Comm comm_;
  int root_;
  int rank_ = 0;
  int ranks_ = 0;
  Seconds preparing_;
  Seconds slack_;
  std::optional<Seconds> timeout_;
  Watchdog* watchdog_;
};

}  // namespace espalier::cli
