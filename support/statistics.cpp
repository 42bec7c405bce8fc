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

double SteadyRuns::Result::relative_deviation() const {
  return kept.deviation == 0 ? 0 : kept.deviation / kept.mean;
}

bool SteadyRuns::needs_more() const {
  return !result_.is_steady && attempts_ < rule_.attempts;
}

void SteadyRuns::add(double seconds) {
  if (!needs_more()) return;
  ++result_.runs;
  // Sorted, so that all but the last are the runs without the greatest.
  attempt_.insert(std::ranges::upper_bound(attempt_, seconds), seconds);
  if (attempt_.size() < rule_.fewest) return;
  Result now{spread_of(std::span(attempt_).first(attempt_.size() - 1)), result_.runs, false};
  now.is_steady = now.relative_deviation() < rule_.deviation;
  const bool ends = attempt_.size() == rule_.most;
  if (!now.is_steady && !ends) return;
  const bool is_first = attempts_ == 0;
  if (!now.is_steady && !is_first && result_.relative_deviation() <= now.relative_deviation()) {
    now.kept = result_.kept;
  }
  result_ = now;
  attempt_.clear();
  if (!now.is_steady) ++attempts_;
}

}  // namespace espalier
