#include "support/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {

Spread spread_of(std::span<const double> sample) {
  Spread spread;
  spread.count = sample.size();
  if (sample.empty()) return spread;
  double sum = 0;
  for (const double value : sample) sum += value;
  const auto count = static_cast<double>(sample.size());
  spread.mean = sum / count;
  spread.least = *std::min_element(sample.begin(), sample.end());
  if (sample.size() < 2) return spread;
  double squares = 0;
  for (const double value : sample) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

}  // namespace espalier
