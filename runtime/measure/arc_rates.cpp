#include "runtime/measure/arc_rates.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
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
constexpr double kFar = 3;

// The median, over all flows that share no ends, of half the interquartile range of their repeats,
// relative to the median rate.
double noise_of(const Measurements& measurements) {
  std::vector<double> deviations;
  for (const Experiment& experiment : measurements.experiments) {
    if (experiment.purpose != Purpose::kAlone && experiment.purpose != Purpose::kRound) continue;
    if (!std::ranges::all_of(have_own_ends(experiment.flows), std::identity())) continue;
    for (std::size_t flow = 0; flow < experiment.flows.size(); ++flow) {
      const Quartiles spread = quartiles_of(experiment.rates_Bps[flow]);
      if (experiment.rates_Bps[flow].size() < 2 || spread.median <= 0) continue;
      deviations.push_back((spread.upper - spread.lower) / 2 / spread.median);
    }
  }
  return std::clamp(median_of(std::move(deviations)), kLeastNoise, kMostNoise);
}

}  // namespace

// What is known of the arcs between two clusters.
struct ArcRates::ArcClassRates {
  double reached = 0;  // the fastest arc alone, or as fast as its ends
  double limit = 0;    // the fastest arc alone that is slower than its ends; 0: none
  double seen = 0;     // the fastest arc
  std::vector<Flow> alone{};
};

ArcRates::ArcRates(const Measurements& measurements)
    : ranks_(measurements.hosts.size()),
      alone_(ranks_ * ranks_),
      fastest_(ranks_ * ranks_),
      slowest_(ranks_ * ranks_),
      inferred_(ranks_ * ranks_),
      was_tried_(ranks_ * ranks_),
      out_(ranks_),
      in_(ranks_),
      fan_out_(ranks_),
      fan_in_(ranks_),
      noise_(noise_of(measurements)) {
  for (const Experiment& experiment : measurements.experiments) {
    if (experiment.flows.empty()) continue;
    const auto [from, to] = experiment.flows[0];
    if (experiment.purpose == Purpose::kFanOut) {
      fan_out_[from] = std::max(fan_out_[from], experiment.total_bps());
    } else if (experiment.purpose == Purpose::kFanIn) {
      fan_in_[to] = std::max(fan_in_[to], experiment.total_bps());
    } else if (experiment.purpose == Purpose::kAlone || experiment.purpose == Purpose::kRound) {
      take_rates(experiment);
    }
  }
  const auto tried = static_cast<std::size_t>(std::ranges::count(was_tried_, true));
  if (tried + ranks_ < ranks_ * ranks_) take_round_trips(measurements);
}

void ArcRates::take_rates(const Experiment& experiment) {
  const std::vector<bool> own_ends = have_own_ends(experiment.flows);
  for (std::size_t flow = 0; flow < experiment.flows.size(); ++flow) {
    if (!own_ends[flow]) continue;
    const Flow& arc = experiment.flows[flow];
    const double rate = experiment.rate_bps(flow);
    was_tried_[index(arc)] = true;
    if (rate <= 0) continue;
    double& most = (experiment.purpose == Purpose::kAlone ? alone_ : fastest_)[index(arc)];
    most = std::max(most, rate);
    if (experiment.purpose == Purpose::kRound) {
      double& slowest = slowest_[index(arc)];
      slowest = slowest > 0 ? std::min(slowest, rate) : rate;
    }
    out_[arc.from] = std::max(out_[arc.from], rate);
    in_[arc.to] = std::max(in_[arc.to], rate);
  }
}

void ArcRates::take_round_trips(const Measurements& measurements) {
  round_trip_s_.resize(ranks_ * ranks_);
  nearest_s_.assign(ranks_, std::numeric_limits<double>::infinity());
  for (const Timing& timing : measurements.timings) {
    if (timing.round_trip_s.empty()) continue;
    const auto [from, to] = timing.flow;
    const double least = *std::ranges::min_element(timing.round_trip_s);
    round_trip_s_[index(timing.flow)] = least;
    for (const std::size_t rank : {from, to}) nearest_s_[rank] = std::min(nearest_s_[rank], least);
  }
}

bool ArcRates::is_far(const Flow& arc) const {
  if (round_trip_s_.empty()) return false;
  const double nearest = std::min(nearest_s_[arc.from], nearest_s_[arc.to]);
  return round_trip_s_[index(arc)] > kFar * nearest;
}

std::vector<Flow> ArcRates::arcs() const {
  std::vector<Flow> arcs;
  for (std::size_t from = 0; from < ranks_; ++from) {
    for (std::size_t to = 0; to < ranks_; ++to) {
      if (from != to) arcs.push_back({from, to});
    }
  }
  return arcs;
}

double ArcRates::best(const Flow& arc) const {
  const double alone = alone_[index(arc)];
  return alone > 0 ? alone : fastest_[index(arc)];
}

double ArcRates::rate_bps(const Flow& arc) const {
  return was_measured(arc) ? best(arc) : inferred_[index(arc)];
}

std::optional<double> ArcRates::alone_bps(const Flow& arc) const {
  const double rate = alone_[index(arc)];
  return rate > 0 ? std::optional(rate) : std::nullopt;
}

std::optional<double> ArcRates::in_round_bps(const Flow& arc) const {
  const double rate = slowest_[index(arc)];
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
  const auto in_round = in_round_bps(arc);
  return in_round && *in_round < (1 - tolerance()) * best(arc);
}

std::vector<Flow> ArcRates::doubtful() const {
  std::vector<Flow> found;
  for (const Flow& arc : arcs()) {
    if (alone_[index(arc)] > 0 || !was_tried_[index(arc)]) continue;
    if (!reaches_rate_of_ends(arc, best(arc))) found.push_back(arc);
  }
  std::stable_sort(found.begin(), found.end(), [this](const Flow& a, const Flow& b) {
    return std::pair(-rate_of_ends(a), best(a)) < std::pair(-rate_of_ends(b), best(b));
  });
  return found;
}

std::map<std::pair<std::size_t, std::size_t>, ArcRates::ArcClassRates> ArcRates::class_rates(
    std::span<const std::size_t> class_of) const {
  std::map<std::pair<std::size_t, std::size_t>, ArcClassRates> classes;
  for (const Flow& arc : arcs()) {
    if (!was_measured(arc)) continue;
    ArcClassRates& known = classes[{class_of[arc.from], class_of[arc.to]}];
    const double rate = best(arc);
    const bool reaches = reaches_rate_of_ends(arc, rate);
    known.seen = std::max(known.seen, rate);
    if (alone_bps(arc)) known.alone.push_back(arc);
    if (alone_bps(arc) || reaches) known.reached = std::max(known.reached, rate);
    if (alone_bps(arc) && !reaches) known.limit = std::max(known.limit, rate);
  }
  return classes;
}

void ArcRates::adopt_class_rates(std::span<const std::size_t> class_of) {
  const auto classes = class_rates(class_of);
  const auto expected = [&](const Flow& arc, const ArcClassRates& known) {
    const double ends = rate_of_ends(arc);
    return known.limit > 0 ? std::min(ends, known.limit) : ends;
  };
  const auto agrees = [&](const ArcClassRates& known) {
    return std::ranges::all_of(known.alone, [&](const Flow& arc) {
      return (1 + 2 * tolerance()) * best(arc) >= expected(arc, known);
    });
  };
  std::vector<Flow> adopting = doubtful();
  if (!were_all_measured()) {
    // One slightly slower than its ends, beside few others, would differ from those inferred.
    std::ranges::copy_if(arcs(), std::back_inserter(adopting), [this](const Flow& arc) {
      return fastest_[index(arc)] > 0 && alone_[index(arc)] <= 0 &&
             reaches_rate_of_ends(arc, fastest_[index(arc)]);
    });
  }
  for (const Flow& arc : adopting) {
    const auto found = classes.find({class_of[arc.from], class_of[arc.to]});
    if (found == classes.end()) continue;
    const ArcClassRates& known = found->second;
    const bool is_known = known.limit > 0 || reaches_rate_of_ends(arc, known.reached);
    if (!is_known || !agrees(known)) continue;
    alone_[index(arc)] = std::max(best(arc), expected(arc, known));
  }
  for (const Flow& arc : arcs()) {
    if (was_tried_[index(arc)]) continue;
    const auto known = classes.find({class_of[arc.from], class_of[arc.to]});
    if (known == classes.end()) continue;
    const auto& [reached, limit, seen, alone] = known->second;
    const bool is_free = limit <= 0 && reaches_rate_of_ends(arc, reached);
    const double ends = rate_of_ends(arc);
    inferred_[index(arc)] = is_free ? ends : std::min(ends, limit > 0 ? limit : seen);
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
