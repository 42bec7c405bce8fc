// Mean, deviation and worst of a sample.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace espalier {

struct Spread {
  std::size_t count = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();  // NaN for an empty sample
  double deviation =
      std::numeric_limits<double>::quiet_NaN();             // of the sample (n - 1); NaN below 2
  double least = std::numeric_limits<double>::quiet_NaN();  // NaN for an empty sample
};

// Of finite figures; sums in the order given, so that the same sample gives the same bits.
Spread spread_of(std::span<const double> sample);

}  // namespace espalier
