// Long work without Python's lock, which Ctrl-C ends.
#pragma once

#include <pybind11/pybind11.h>

#include "support/deadline.hpp"
#include "support/quantities.hpp"

namespace espalier::python {

// The system's clock. Work that looks at it, because it has a deadline, runs Python's signal
// handlers, and ends by the exception that one of them raises.
class InterruptClock : public Clock {
 public:
  Seconds now() override {
    constexpr double kBetweenLooks_s = 0.05;
    const Seconds time = steady_now();
    if (time.value - last_look_.value < kBetweenLooks_s) return time;
    last_look_ = time;
    const pybind11::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
    return time;
  }

 private:
  Seconds last_look_ = steady_now();
};

// What work(clock) returns. It must not touch Python's objects.
template <class Work>
auto unlocked(const Work& work) {
  InterruptClock clock;
  const pybind11::gil_scoped_release released;
  return work(clock);
}

}  // namespace espalier::python
