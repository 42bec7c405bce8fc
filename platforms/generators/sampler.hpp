// Random draws that are the same on every machine: the C++ standard specifies the engine's numbers,
// but not the results of <random>'s distributions. Not installed.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "support/quantities.hpp"

namespace espalier::platforms {

class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : engine_(seed) {}

  // Uniform in [0, bound). Draws that would favour low values are rejected.
  std::uint64_t below(std::uint64_t bound) {
    if (bound < 2) return 0;
    const std::uint64_t uneven = -bound % bound;
    std::uint64_t draw = engine_();
    while (draw < uneven) draw = engine_();
    return draw % bound;
  }

  // Standard normal, by Marsaglia's polar method.
  double gaussian() {
    while (true) {
      const double x = 2 * unit() - 1;
      const double y = 2 * unit() - 1;
      const double square = x * x + y * y;
      if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
    }
  }

  // A Gaussian bandwidth, redrawn if below a tenth of the mean, so that no bandwidth is near zero.
  // `spread` is the deviation relative to the mean.
  BytesPerSecond bandwidth(BytesPerSecond mean, double spread) {
    // Rounded to billionths of the mean, because the last bits of log() differ between machines.
    constexpr double kSteps = 1e9;
    while (true) {
      const double steps = std::round(kSteps * (1 + spread * gaussian()));
      if (steps >= kSteps / 10) return {mean.value * steps / kSteps};
    }
  }

  // In [0, 1), 53 bits.
  double unit() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }

  template <typename Element>
  void shuffle(std::vector<Element>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace espalier::platforms
