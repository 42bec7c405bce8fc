// A limit on the time of waiting.
#pragma once

#include <mpi.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/quantities.hpp"

namespace espalier::runtime {

class Timeout {
 public:
  // Unset: no limit.
  explicit Timeout(std::optional<Seconds> timeout = {}) : timeout_(timeout) {}

  [[nodiscard]] bool is_limited() const { return timeout_.has_value(); }
  // Call it when a wait begins, and after progress.
  void begin();
  // Call it after each unsuccessful poll; it reads the clock only occasionally. A gap between two
  // readings counts as one second at most, because a job that was suspended has not waited.
  [[nodiscard]] bool is_over();
  // "no progress for 30 s".
  [[nodiscard]] std::string complaint() const;

  // Waits until `request` is complete. keeps: owns the memory that the request uses; never freed if
  // the timeout is exceeded. Throws TimedOut ("no progress for 30 s, " and `doing`), MpiError.
  void wait(MPI_Request& request, std::string_view doing,
            const std::shared_ptr<const void>& keeps = {});

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<Seconds> timeout_;
  unsigned polls_ = 0;
  Clock::time_point last_look_;
  Clock::duration waited_{};
};

}  // namespace espalier::runtime
