#include "runtime/transport/timeout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

// An unsuccessful poll may yield the processor and then take long.
constexpr unsigned kPollsALook = 16;
constexpr auto kLongestGap = std::chrono::seconds(1);

}  // namespace

void Timeout::begin() {
  if (!is_limited()) return;
  polls_ = 0;
  waited_ = {};
  last_look_ = Clock::now();
}

bool Timeout::is_over() {
  if (!is_limited() || ++polls_ % kPollsALook != 0) return false;
  const Clock::time_point now = Clock::now();
  waited_ += std::min<Clock::duration>(now - last_look_, kLongestGap);
  last_look_ = now;
  return std::chrono::duration<double>(waited_).count() > timeout_->value;
}

std::string Timeout::complaint() const {
  return fmt::format("no progress for {:g} s", timeout_ ? timeout_->value : 0);
}

void Timeout::wait(MPI_Request& request, std::string_view doing,
                   const std::shared_ptr<const void>& keeps) {
  if (!is_limited()) return check(MPI_Wait(&request, MPI_STATUS_IGNORE), doing);
  begin();
  for (;;) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), doing);
    if (done != 0) return;
    if (!is_over()) continue;
    // MPI may still write to this memory, so it is never freed.
    static_cast<void>(new std::shared_ptr<const void>(keeps));
    throw TimedOut(fmt::format("{}, {}", complaint(), doing));
  }
}

}  // namespace espalier::runtime
