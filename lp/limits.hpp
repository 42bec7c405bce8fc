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

}  // namespace espalier::lp
