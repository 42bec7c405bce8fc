// How long something takes on all ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/espalier_mpi/run/watchdog.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// What other ranks' disks may take for so many bytes while this one waits: not to be taken for
// dead, not to be waited for indefinitely.
Seconds disk_time(std::uint64_t bytes);

// Report-to-root times, as Pjesivac-Grbovic et al. measure (Cluster Computing 10 (2007),
// doi:10.1007/s10586-007-0012-0, section 6.1), so that one round cannot hide behind the next: from
// the root's start, after a barrier, until the last rank has told it that it is done.
class ReportTimer {
 public:
  // root: who is told. foreseen: for one round; ranks that are done wait for others twice so long,
  // and the timeout. watchdog outlives this.
  ReportTimer(MPI_Comm comm, int root, Seconds foreseen, std::optional<Seconds> timeout,
              Watchdog& watchdog);

  struct Act {
    std::function<void()> run;
    // What the watchdog says of a rank that does not come back from it; empty: it notices itself.
    std::string doing;
  };
  // Collective; the same on all ranks. Throws what the act throws; TimedOut, on the root, that
  // names the ranks which have not reported; MpiError.
  [[nodiscard]] double seconds_of(const Act& act) const;

 private:
  void hear_reports() const;

  MPI_Comm comm_;
  int root_;
  int rank_ = 0;
  int ranks_ = 0;
  Seconds slack_;
  std::optional<Seconds> timeout_;
  Watchdog* watchdog_;
};

}  // namespace espalier::cli
