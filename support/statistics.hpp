// Mean, deviation, minimum and quartiles of a sample.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace espalier {

struct Spread {
  std::size_t count = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();  // NaN for an empty sample
  double deviation =
      std::numeric_limits<double>::quiet_NaN();             // of the sample (n - 1); NaN below 2
  double least = std::numeric_limits<double>::quiet_NaN();  // NaN for an empty sample
};

// sample: finite. Sums in the given order, so that the same sample gives the same bits.
Spread spread_of(std::span<const double> sample);

// The quartiles of a sample. A quartile between two values is interpolated linearly
// (Hyndman and Fan's definition 7, which R, NumPy and spreadsheets use,
// doi:10.1080/00031305.1996.10473566).
struct Quartiles {
  double least = std::numeric_limits<double>::quiet_NaN();  // all NaN for an empty sample
  double lower = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
  double greatest = std::numeric_limits<double>::quiet_NaN();
};

// sample: finite, in any order.
Quartiles quartiles_of(std::vector<double> sample);
// 0 for an empty sample.
double median_of(std::vector<double> sample);

}  // namespace espalier
