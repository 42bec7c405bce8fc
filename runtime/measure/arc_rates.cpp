#include "runtime/measure/arc_rates.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "support/statistics.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr double kLeastNoise = 0.005;
constexpr double kMostNoise = 0.1;
constexpr double kLeastTolerance = 0.08;
constexpr double kTolerancePerNoise = 6;

// The median, over all flows, of half the interquartile range of their repeats, relative to the
// median rate.
double noise_of(const Measurements& measurements) {
  std::vector<double> deviations;
  for (const Experiment& experiment : measurements.experiments) {
    if (experiment.purpose != Purpose::kAlone && experiment.purpose != Purpose::kRound) continue;
    for (std::size_t flow = 0; flow < experiment.flows.size(); ++flow) {
      const Quartiles spread = quartiles_of(experiment.rates_Bps[flow]);
      if (experiment.rates_Bps[flow].size() < 2 || spread.median <= 0) continue;
      deviations.push_back((spread.upper - spread.lower) / 2 / spread.median);
    }
  }
  return std::clamp(median_of(std::move(deviations)), kLeastNoise, kMostNoise);
}

}  // namespace

ArcRates::ArcRates(const Measurements& measurements)
    : ranks_(measurements.hosts.size()),
      alone_(ranks_ * ranks_),
      in_round_(ranks_ * ranks_),
      out_(ranks_),
      in_(ranks_),
      noise_(noise_of(measurements)) {
  for (const Experiment& experiment : measurements.experiments) {
    if (experiment.purpose != Purpose::kAlone && experiment.purpose != Purpose::kRound) continue;
    std::vector<double>& rates = experiment.purpose == Purpose::kAlone ? alone_ : in_round_;
    for (std::size_t flow = 0; flow < experiment.flows.size(); ++flow) {
      const Flow& arc = experiment.flows[flow];
      const double rate = experiment.rate_bps(flow);
      rates[index(arc)] = rate;
      out_[arc.from] = std::max(out_[arc.from], rate);
      in_[arc.to] = std::max(in_[arc.to], rate);
    }
  }
}

double ArcRates::best(const Flow& arc) const {
  const double alone = alone_[index(arc)];
  return alone > 0 ? alone : in_round_[index(arc)];
}

std::optional<double> ArcRates::alone_bps(const Flow& arc) const {
  const double rate = alone_[index(arc)];
  return rate > 0 ? std::optional(rate) : std::nullopt;
}

std::optional<double> ArcRates::in_round_bps(const Flow& arc) const {
  const double rate = in_round_[index(arc)];
  return rate > 0 ? std::optional(rate) : std::nullopt;
}

double ArcRates::tolerance() const {
  return std::max(kLeastTolerance, kTolerancePerNoise * noise_);
}

double ArcRates::rate_of_ends(const Flow& arc) const {
  return std::min(out_[arc.from], in_[arc.to]);
}

bool ArcRates::reaches_rate_of_ends(const Flow& arc, double rate_Bps) const {
  return rate_Bps >= (1 - tolerance()) * rate_of_ends(arc);
}

bool ArcRates::was_disturbed(const Flow& arc) const {
  const auto alone = alone_bps(arc);
  const auto in_round = in_round_bps(arc);
  return alone && in_round && *in_round < (1 - tolerance()) * *alone;
}

std::vector<Flow> ArcRates::doubtful() const {
  std::vector<Flow> arcs;
  for (std::size_t from = 0; from < ranks_; ++from) {
    for (std::size_t to = 0; to < ranks_; ++to) {
      const Flow arc{from, to};
      if (from == to || alone_[index(arc)] > 0) continue;
      if (!reaches_rate_of_ends(arc, in_round_[index(arc)])) arcs.push_back(arc);
    }
  }
  std::stable_sort(arcs.begin(), arcs.end(), [this](const Flow& a, const Flow& b) {
    return in_round_[index(a)] * rate_of_ends(b) < in_round_[index(b)] * rate_of_ends(a);
  });
  return arcs;
}

void ArcRates::adopt_class_rates(std::span<const std::size_t> class_of) {
  // Rates relative to their ends.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> shares;
  for (std::size_t from = 0; from < ranks_; ++from) {
    for (std::size_t to = 0; to < ranks_; ++to) {
      const auto alone = alone_bps({from, to});
      if (!alone) continue;
      shares[{class_of[from], class_of[to]}].push_back(*alone / rate_of_ends({from, to}));
    }
  }
  for (const Flow& arc : doubtful()) {
    const auto found = shares.find({class_of[arc.from], class_of[arc.to]});
    if (found == shares.end()) continue;
    const auto [least, most] = std::ranges::minmax(found->second);
    if (most > (1 + 2 * tolerance()) * least) continue;
    alone_[index(arc)] =
        std::max(in_round_[index(arc)], median_of(found->second) * rate_of_ends(arc));
  }
}

std::vector<double> levelled(std::span<const double> values, double tolerance) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> levels(values.begin(), values.end());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    std::vector<double> group;
    while (end < order.size() && values[order[end]] <= values[order[first]] * (1 + tolerance)) {
      group.push_back(values[order[end++]]);
    }
    const double level = median_of(std::move(group));
    for (; first < end; ++first) levels[order[first]] = level;
  }
  return levels;
}

}  // namespace espalier::runtime::probe
