// Random numbers from a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace espalier::lp {

// Random numbers that are the same on every machine, unlike the standard's distributions.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : engine_(seed) {}
  // Below count, from 0.
  std::size_t below(std::size_t count) { return ((engine_() >> 32) * count) >> 32; }
  // From 0 to below 1.
  double share() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  template <class Range>
  auto pick(const Range& range) {
    return range[below(range.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace espalier::lp
