// Ends a rank that waits too long where no exception can help: inside a call of MPI that does not
// return because another rank is dead or a link is cut.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "support/quantities.hpp"

namespace espalier::cli {

class Watchdog {
 public:
  // rank_name: how messages call this rank, e.g. "rank 3 on node7".
  explicit Watchdog(std::string rank_name) : rank_name_(std::move(rank_name)) {}
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  Watchdog(Watchdog&&) = delete;
  Watchdog& operator=(Watchdog&&) = delete;

  // Watches from now on; not at all without a timeout.
  void start(std::optional<Seconds> timeout);
  // What this rank does from now on, which takes the timeout and `extra` at most. Then the process
  // ends with kLimitReached, after its temporary files are removed and a line like "rank 3 on
  // node7: nothing came for 30 s, " and `doing`.
  void expect(std::string doing, Seconds extra = {});
  // What follows has its own way to notice.
  void rest();
  // The end has been announced already: it may take `most`, and then goes without MPI, with
  // `status`.
  void hurry(Seconds most, int status);

 private:
  void watch();
  [[noreturn]] void end_process() const;

  std::string rank_name_;
  std::optional<Seconds> timeout_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  bool stopped_ = false;
  bool silent_ = false;
  int status_ = 0;
  std::string doing_;
  std::optional<double> limit_s_;  // unset: rests
  double waited_s_ = 0;
  std::thread thread_;
};

}  // namespace espalier::cli
