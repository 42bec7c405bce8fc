#include "cli/espalier_mpi/run/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "runtime/files/temporary_names.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLook = std::chrono::milliseconds(100);
// So that time during which all processes were stopped does not count as waiting.
constexpr double kLongestGap_s = 1;

}  // namespace

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::start(std::optional<Seconds> timeout) {
  timeout_ = timeout;
  status_ = static_cast<int>(ExitStatus::kLimitReached);
  if (timeout) thread_ = std::thread([this] { watch(); });
}

void Watchdog::expect(std::string doing, Seconds extra) {
  if (!timeout_) return;
  const std::lock_guard lock(mutex_);
  doing_ = std::move(doing);
  limit_s_ = timeout_->value + extra.value;
  waited_s_ = 0;
}

void Watchdog::pause() {
  const std::lock_guard lock(mutex_);
  limit_s_.reset();
}

void Watchdog::limit_exit(Seconds most, int status) {
  {
    const std::lock_guard lock(mutex_);
    silent_ = true;
    status_ = status;
    limit_s_ = most.value;
    waited_s_ = 0;
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  Clock::time_point last = Clock::now();
  while (!stopped_) {
    changed_.wait_for(lock, kLook);
    const Clock::time_point now = Clock::now();
    const double gap = std::chrono::duration<double>(now - std::exchange(last, now)).count();
    if (!limit_s_) continue;
    waited_s_ += std::min(gap, kLongestGap_s);
    if (waited_s_ > *limit_s_) end_process();
  }
}

void Watchdog::end_process() const {
  runtime::remove_temporaries();
  if (!silent_) {
    fmt::print(stderr, "espalier-mpi: {}: no progress for {:.3g} s, {}\n", rank_name_, *limit_s_,
               doing_);
    std::fflush(stderr);
  }
  // MPI_Finalize and MPI_Abort may wait indefinitely; mpirun ends the other ranks.
  std::_Exit(status_);
}

}  // namespace espalier::cli
