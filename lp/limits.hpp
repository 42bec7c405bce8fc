// How far a search goes, and how it reports: common to everything that can take long.
#pragma once

#include <cstddef>
#include <functional>

#include "support/deadline.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

struct Progress {
  Seconds elapsed;
  std::size_t iterations;     // arborescences priced, or branches explored
  BytesPerSecond throughput;  // reached so far
  BytesPerSecond bound;       // proven so far
};

struct Limits {
  double gap = 1e-6;  // stop when bound <= (1 + gap) * throughput
  // The same where the last millionth would take minutes: in a large network without switches in
  // which almost every resource is full at the optimum (docs/methods.md).
  double dense_gap = 1e-3;
  // When the work must end; what was found by then is returned. Without a limit the result is the
  // same on every machine.
  Deadline deadline{};
  // May be empty; called at most a few times per second.
  std::function<void(const Progress&)> on_progress{};
};

// Calls on_progress, but not too often.
class ProgressReport {
 public:
  explicit ProgressReport(const Limits& limits) : limits_(limits) {}

  // rate, bound: bytes per second.
  void operator()(std::size_t iterations, double rate, double bound) {
    if (!limits_.on_progress) return;
    constexpr double kBetween_s = 0.2;
    const double now = limits_.deadline.elapsed().value;
    if (now - last_s_ < kBetween_s) return;
    last_s_ = now;
    limits_.on_progress({{now}, iterations, {rate}, {bound}});
  }

 private:
  const Limits& limits_;
  double last_s_ = 0;
};

}  // namespace espalier::lp
