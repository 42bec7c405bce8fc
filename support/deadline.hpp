// A time limit that all steps of a task share, and the looks at the clock that make it hold.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "support/errors.hpp"
#include "support/pinned.hpp"
#include "support/quantities.hpp"

namespace espalier {

// A source of time. A test or a progress display puts its own in place of the system's.
class Clock : public Interface {
 public:
  // Since some fixed moment; never decreases.
  virtual Seconds now() = 0;
  // Whether the user wants all work to end, whatever its limit. Once true it stays so.
  virtual bool stopped() { return false; }
};

// The system's clock, which never goes back: since some fixed moment.
inline Seconds steady_now() {
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

// Measures from its construction on.
class Stopwatch {
 public:
  [[nodiscard]] Seconds elapsed() const { return {steady_now().value - start_.value}; }

 private:
  Seconds start_ = steady_now();
};

// For a message: why work ended before its time.
inline std::string_view end_of_time(bool by_user) {
  return by_user ? "interrupted" : "the time limit was reached";
}

// The moment at which work must end. Copies mean the same moment, so a step passes its own on.
class Deadline {
 public:
  // Starts now. limit: unset: there is none. clock: null: the system's; not owned, and it must
  // outlive all copies.
  explicit Deadline(std::optional<Seconds> limit = std::nullopt, Clock* clock = nullptr)
      : clock_(clock), limit_(limit), start_(now()) {}

  // The same limit and clock, starting now: for the next of several tasks.
  [[nodiscard]] Deadline restarted() const { return Deadline(limit_, clock_); }
  // Passes after this share of the time that is left: for one of several steps.
  [[nodiscard]] Deadline share(double share) const {
    Deadline earlier = *this;
    if (limit_) earlier.limit_ = Seconds{limit_->value * share + elapsed().value * (1 - share)};
    return earlier;
  }

  [[nodiscard]] std::optional<Seconds> limit() const { return limit_; }
  [[nodiscard]] Seconds elapsed() const { return {now().value - start_.value}; }
  // Never below zero; unset without a limit.
  [[nodiscard]] std::optional<Seconds> left() const {
    if (stopped()) return Seconds{0};
    if (!limit_) return std::nullopt;
    return Seconds{std::max(0.0, limit_->value - elapsed().value)};
  }
  // Looks at the clock even without a limit: the clock may show progress.
  [[nodiscard]] bool passed() const {
    const Seconds so_far = elapsed();
    return stopped() || (limit_ && so_far.value >= limit_->value);
  }
  // Once it has passed.
  [[nodiscard]] std::string_view cause() const { return end_of_time(stopped()); }
  // To be thrown once it has passed: "the time limit was reached before WHAT; raise the limit".
  [[nodiscard]] LimitReached ended_before(std::string_view what) const {
    const std::string cure = stopped() ? "" : "; raise the limit";
    return LimitReached(std::string(cause()).append(" before ").append(what) + cure);
  }

 private:
  [[nodiscard]] bool stopped() const { return clock_ != nullptr && clock_->stopped(); }
  [[nodiscard]] Seconds now() const { return clock_ != nullptr ? clock_->now() : steady_now(); }

  Clock* clock_;
  std::optional<Seconds> limit_;
  Seconds start_;
};

// Looks at the deadline once per so much work, for loops of many short steps: a look costs next to
// nothing, and work that takes less than about a millisecond is never cut short.
class DeadlineWatch {
 public:
  explicit DeadlineWatch(const Deadline& deadline) : deadline_(deadline) {}

  // work: since the last call, in steps of some nanoseconds, such as arcs visited. Whether the
  // deadline has passed.
  [[nodiscard]] bool passed(std::size_t work) {
    work_ += work;
    if (work_ < kWorkPerLook) return false;
    if (deadline_.passed()) return true;  // so does the next call, whatever its work
    work_ = 0;
    return false;
  }
  // The same, where nothing of the result can be used yet. Throws LimitReached.
  void require(std::size_t work) {
    if (!passed(work)) return;
    throw deadline_.ended_before("there was any result");
  }

 private:
  static constexpr std::size_t kWorkPerLook = 1 << 16;
  Deadline deadline_;
  std::size_t work_ = 0;
};

}  // namespace espalier
