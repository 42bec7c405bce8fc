#include "runtime/measure/messages/repeats.hpp"

#include <algorithm>

#include "support/statistics.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr std::size_t kTurns = 3;

std::vector<double> least_of_turns(const std::function<std::vector<double>()>& run) {
  std::vector<double> least = run();
  for (std::size_t turn = 1; turn < kTurns; ++turn) {
    const std::vector<double> seen = run();
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], seen[i]);
  }
  return least;
}

}  // namespace

std::vector<double> Repeats::measure(const std::vector<std::string>& names,
                                     const std::function<std::vector<double>()>& run) {
  if (statistics_ == Statistics::kLeast) return least_of_turns(run);
  std::vector<SteadyRuns> values(names.size());
  while (std::ranges::any_of(values, &SteadyRuns::needs_more)) {
    const std::vector<double> seen = run();
    for (std::size_t i = 0; i < values.size(); ++i) values[i].add(seen[i]);
  }
  std::vector<double> least;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const SteadyRuns::Result& result = values[i].result();
    deviations_.push_back({names[i], result.relative_deviation(), result.is_steady});
    least.push_back(result.kept.least);
  }
  return least;
}

double Repeats::measure(const std::string& name, const std::function<double()>& run) {
  return measure(std::vector{name}, [&] { return std::vector{run()}; })[0];
}

}  // namespace espalier::runtime::probe
