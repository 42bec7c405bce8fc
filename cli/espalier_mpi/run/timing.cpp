#include "cli/espalier_mpi/run/timing.hpp"

#include <fmt/format.h>

#include <vector>

#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "runtime/transport/timeout.hpp"
#include "support/pinned.hpp"

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
// The root knows which ranks are missing, so its message comes first. Its last sign may be older
// than what it has heard last.
constexpr double kBetweenSigns_s = 1;
constexpr double kRootFirst_s = kBetweenSigns_s + 1;
// The messages besides the time that the root has measured.
constexpr double kSign = -1;
constexpr double kReport = -2;

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

// The signs of life that a rank sends: to the root, or the root to all others. They are short
// enough for MPI to complete them although the receiver may not be there.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class ReportTimer::Signs : public Pinned {
 public:
  Signs(const ReportTimer& timer, bool on_progress) : timer_(&timer), last_(MPI_Wtime()) {
    if (on_progress) timer.watchdog_->set_on_progress([this] { send(); });
  }
  ~Signs() { timer_->watchdog_->set_on_progress({}); }

  // Sends a sign if there has been none for a while.
  void send() {
    if (!timer_->timeout_ || MPI_Wtime() - last_ < kBetweenSigns_s) return;
    last_ = MPI_Wtime();
    for (int rank = 0; rank < timer_->ranks_; ++rank) {
      // Between the root and the others, in both directions.
      if ((rank == timer_->root_) == (timer_->rank_ == timer_->root_)) continue;
      check(
          MPI_Isend(&kSign, 1, MPI_DOUBLE, rank, kReportTag, timer_->comm_, &begun_.emplace_back()),
          "MPI_Isend");
    }
  }
  // Call it when all ranks receive the signs that are in progress.
  void end() {
    check(MPI_Waitall(static_cast<int>(begun_.size()), begun_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
  }

 private:
  const ReportTimer* timer_;
  double last_;
  std::vector<MPI_Request> begun_;
};

double ReportTimer::seconds_of(const Act& act) const {
  watchdog_->expect("waiting for all ranks to begin", preparing_);
  check(MPI_Barrier(comm_), "MPI_Barrier");
  if (act.doing.empty()) {
    watchdog_->pause();
  } else {
    watchdog_->expect(act.doing, {kMpiTimePerPredicted * slack_.value});
  }
  const Seconds slack = act.shows_progress ? Seconds{} : slack_;
  Signs signs(*this, act.shows_progress);
  const double start = MPI_Wtime();
  act.run();
  double seconds = 0;
  if (rank_ == root_) {
    watchdog_->pause();
    collect_reports(signs, slack);
    seconds = MPI_Wtime() - start;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank == root_) continue;
      check(MPI_Send(&seconds, 1, MPI_DOUBLE, rank, kReportTag, comm_), "MPI_Send");
    }
  } else {
    check(MPI_Send(&kReport, 1, MPI_DOUBLE, root_, kReportTag, comm_), "MPI_Send");
    seconds = receive_result(slack);
  }
  signs.end();
  return seconds;
}

double ReportTimer::receive_result(Seconds slack) const {
  const std::string doing =
      fmt::format("waiting for rank {} to collect the reports of all ranks", root_);
  double seconds = kSign;
  while (seconds == kSign) {
    watchdog_->expect(doing, {slack.value + kRootFirst_s});
    check(MPI_Recv(&seconds, 1, MPI_DOUBLE, root_, kReportTag, comm_, MPI_STATUS_IGNORE),
          "MPI_Recv");
  }
  return seconds;
}

void ReportTimer::collect_reports(Signs& signs, Seconds slack) const {
  std::vector<double> words(static_cast<std::size_t>(ranks_), kReport);
  std::vector<MPI_Request> reports(words.size(), MPI_REQUEST_NULL);
  const auto receive = [&](int rank) {
    const auto place = static_cast<std::size_t>(rank);
    check(MPI_Irecv(&words[place], 1, MPI_DOUBLE, rank, kReportTag, comm_, &reports[place]),
          "MPI_Irecv");
  };
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank != root_) receive(rank);
  }
  if (!timeout_) {
    check(MPI_Waitall(ranks_, reports.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return;
  }
  runtime::Timeout timeout(Seconds{timeout_->value + slack.value});
  timeout.begin();
  std::vector<int> done(reports.size());
  for (;;) {
    int count = 0;
    check(MPI_Testsome(ranks_, reports.data(), &count, done.data(), MPI_STATUSES_IGNORE),
          "MPI_Testsome");
    if (count == MPI_UNDEFINED) return;
    if (count > 0) {
      timeout.begin();
      signs.send();
    }
    for (int i = 0; i < count; ++i) {
      const int rank = done[static_cast<std::size_t>(i)];
      if (words[static_cast<std::size_t>(rank)] == kSign) receive(rank);
    }
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
