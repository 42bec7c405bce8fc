#include "cli/espalier_mpi/run/timing.hpp"

#include <fmt/format.h>

#include <vector>

#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::cli {
namespace {

using runtime::check;

constexpr int kReportTag = 1;
// Below the rate of any disk worth sending a file to.
constexpr BytesPerSecond kSlowDisk{10e6};
// Below the rate at which several ranks of a host fill memory, or compare it.
constexpr BytesPerSecond kSlowMemory{200e6};
// MPI's own functions show no progress, and no plan predicts their time.
constexpr double kMpiTimePerPredicted = 50;
// The root knows which ranks are missing, so its message comes first.
constexpr double kRootFirst_s = 2;

}  // namespace

Seconds disk_time(std::uint64_t bytes) {
  return {static_cast<double>(bytes) / kSlowDisk.value};
}

Seconds memory_time(std::uint64_t bytes) {
  return {static_cast<double>(bytes) / kSlowMemory.value};
}

ReportTimer::ReportTimer(MPI_Comm comm, int root, Seconds preparing, Seconds predicted_time,
                         std::optional<Seconds> timeout, Watchdog& watchdog)
    : comm_(comm),
      root_(root),
      preparing_(preparing),
      slack_{2 * predicted_time.value},
      timeout_(timeout),
      watchdog_(&watchdog) {
  rank_ = runtime::rank_in(comm_);
  ranks_ = runtime::size_of(comm_);
}

double ReportTimer::seconds_of(const Act& act) const {
  watchdog_->expect("waiting for all ranks to begin", preparing_);
  check(MPI_Barrier(comm_), "MPI_Barrier");
  if (act.doing.empty()) {
    watchdog_->pause();
  } else {
    watchdog_->expect(act.doing, {kMpiTimePerPredicted * slack_.value});
  }
  const double start = MPI_Wtime();
  act.run();
  if (rank_ == root_) {
    watchdog_->pause();
    collect_reports();
  } else {
    check(MPI_Send(nullptr, 0, MPI_BYTE, root_, kReportTag, comm_), "MPI_Send");
  }
  double seconds = MPI_Wtime() - start;
  watchdog_->expect(fmt::format("waiting for rank {} to collect the reports of all ranks", root_),
                    {slack_.value + kRootFirst_s});
  check(MPI_Bcast(&seconds, 1, MPI_DOUBLE, root_, comm_), "MPI_Bcast");
  return seconds;
}

void ReportTimer::collect_reports() const {
  std::vector<MPI_Request> reports(static_cast<std::size_t>(ranks_), MPI_REQUEST_NULL);
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank == root_) continue;
    check(MPI_Irecv(nullptr, 0, MPI_BYTE, rank, kReportTag, comm_,
                    &reports[static_cast<std::size_t>(rank)]),
          "MPI_Irecv");
  }
  if (!timeout_) {
    check(MPI_Waitall(ranks_, reports.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return;
  }
  runtime::Timeout timeout(Seconds{timeout_->value + slack_.value});
  timeout.begin();
  std::vector<int> done(reports.size());
  for (;;) {
    int count = 0;
    check(MPI_Testsome(ranks_, reports.data(), &count, done.data(), MPI_STATUSES_IGNORE),
          "MPI_Testsome");
    if (count == MPI_UNDEFINED) return;
    if (count > 0) timeout.begin();
    if (count == 0 && timeout.is_over()) break;
  }
  std::string missing;
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    if (reports[rank] != MPI_REQUEST_NULL) missing += fmt::format(" {}", rank);
  }
  throw runtime::TimedOut(fmt::format("rank {}: {}, waiting for reports of ranks{}", rank_,
                                      timeout.complaint(), missing));
}

}  // namespace espalier::cli
