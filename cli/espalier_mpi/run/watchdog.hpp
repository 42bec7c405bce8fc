// Ends a rank that waits too long inside an MPI call, where no exception can help: because another
// rank is dead or a link is down.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "support/pinned.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// How much longer than the timeout the watchdog waits where what it watches has a timeout of its
// own, whose message says more.
inline constexpr Seconds kOwnTimeoutFirst{2};

// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class Watchdog : public Pinned {
 public:
  // rank_name: this rank's name in messages, e.g. "rank 3 on node7".
  explicit Watchdog(std::string rank_name) : rank_name_(std::move(rank_name)) {}
  ~Watchdog();

  // Watches from now on; not at all without a timeout.
  void start(std::optional<Seconds> timeout);
  // From now on this rank does `doing`, for at most the timeout plus `extra`. After that the
  // process removes its temporary files and ends with kLimitReached and a line like "rank 3 on
  // node7: no progress for 30 s, " and `doing`.
  void expect(std::string doing, Seconds extra = {});
  // Stops watching until the next expect(); for code with its own timeout.
  void pause();
  // Call it when a message makes progress on this rank; calls what was set for this, if anything.
  void note_progress() const {
    if (on_progress_) on_progress_();
  }
  void set_on_progress(std::function<void()> act) { on_progress_ = std::move(act); }
  // For an exit whose reason has been printed: ends the process without MPI, with `status`, unless
  // it ends within `most`.
  void limit_exit(Seconds most, int status);

 private:
  void watch();
  [[noreturn]] void end_process() const;

  std::string rank_name_;
  std::optional<Seconds> timeout_;
  std::function<void()> on_progress_;  // not called by the thread
  std::mutex mutex_;                   // of all members below
  std::condition_variable changed_;
  bool stopped_ = false;
  bool silent_ = false;
  int status_ = 0;
  std::string doing_;
  std::optional<double> limit_s_;  // unset: paused
  double waited_s_ = 0;
  std::thread thread_;
};

}  // namespace espalier::cli
