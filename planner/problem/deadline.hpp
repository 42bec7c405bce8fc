// The remaining part of a time limit that several steps share.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "support/quantities.hpp"

namespace espalier::planner {

class Deadline {
 public:
  // Starts the clock. Unset: no limit.
  explicit Deadline(std::optional<Seconds> limit) : limit_(limit) {}

  [[nodiscard]] Seconds elapsed() const {
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count()};
  }
  // Never below zero; unset without a limit.
  [[nodiscard]] std::optional<Seconds> left() const {
    if (!limit_) return std::nullopt;
    return Seconds{std::max(0.0, limit_->value - elapsed().value)};
  }
  [[nodiscard]] bool passed() const { return limit_ && elapsed().value >= limit_->value; }

 private:
  std::optional<Seconds> limit_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace espalier::planner
