// A clock that counts how often it is looked at, and on which each look takes the same time: tests
// of deadlines measure no time.
#pragma once

#include <cstddef>

#include "support/deadline.hpp"

namespace espalier::testing {

class CountingClock : public Clock {
 public:
  explicit CountingClock(Seconds per_look = {1}) : per_look_(per_look) {}
  Seconds now() override { return {per_look_.value * static_cast<double>(looks_++)}; }
  [[nodiscard]] std::size_t looks() const { return looks_; }

 private:
  Seconds per_look_;
  std::size_t looks_ = 0;
};

}  // namespace espalier::testing
