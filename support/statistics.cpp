#include "support/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

Quartiles quartiles_of(std::vector<double> sample) {
  if (sample.empty()) return {};
  std::sort(sample.begin(), sample.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(sample.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sample.size() - 1);
    const double part = place - static_cast<double>(below);
    return sample[below] * (1 - part) + sample[above] * part;
  };
  return {sample.front(), at(0.25), at(0.5), at(0.75), sample.back()};
}

double median_of(std::vector<double> sample) {
  return sample.empty() ? 0 : quartiles_of(std::move(sample)).median;
}

}  // namespace espalier
