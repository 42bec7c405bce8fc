#include "runtime/engine/pacing.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace espalier::runtime {

namespace {

constexpr double kMoment_s = 50e-6;
#ifdef SMPI_H
// Sleeps are exact, transfers continue meanwhile, and every poll costs time to simulate.
constexpr bool kIsSimulated = true;
constexpr double kWorthSleeping_s = 0;
#else
constexpr bool kIsSimulated = false;
constexpr double kWorthSleeping_s = 4 * kMoment_s;  // because a sleep may last twice as long
#endif

}  // namespace

bool PacingTimer::holds(double due_s) {
  if (due_s == 0 || due_s <= MPI_Wtime()) return false;
  due_s_ = any() ? std::min(due_s_, due_s) : due_s;
  return true;
}

void PacingTimer::doze(bool awaits_segments) const {
  const double left_s = due_s_ - MPI_Wtime();
  if (!any() || left_s <= kWorthSleeping_s) return;
  constexpr double kMost_s = 0.9;  // ::usleep takes less than a second
  const bool to_the_end = kIsSimulated && !awaits_segments;
  const double sleep_s = std::min(left_s, to_the_end ? kMost_s : kMoment_s);
  ::usleep(static_cast<::useconds_t>(std::ceil(sleep_s * 1e6)));
}

}  // namespace espalier::runtime
