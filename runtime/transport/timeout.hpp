// How long is waited for something that may never come.
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
  // Without a timeout it never ends.
  explicit Timeout(std::optional<Seconds> timeout = {}) : timeout_(timeout) {}

  [[nodiscard]] bool is_limited() const { return timeout_.has_value(); }
  // The wait begins, or something has come.
  void begin();
  // For who polls, after each poll in vain; looks at the clock only now and then. A long gap
  // between two looks counts little: a process that was stopped for an hour, with all others, has
  // not waited.
  [[nodiscard]] bool is_over();
  // "no progress for 30 s".
  [[nodiscard]] std::string complaint() const;

  // Waits until `request` is complete. keeps: owns what the request reads and writes; lives on for
  // ever when timeout ends first. Throws TimedOut ("no progress for 30 s, " and `doing`),
  // MpiError.
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
