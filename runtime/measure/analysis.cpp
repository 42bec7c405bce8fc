#include "runtime/measure/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/api/rank_mapping.hpp"
#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/clusters.hpp"
#include "runtime/measure/model_fit.hpp"
#include "runtime/measure/probe.hpp"
#include "support/statistics.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr double kLeastLevel = 0.02;
// The range of many medians of a few repeats each, in units of the noise.
constexpr double kLevelPerNoise = 8;
// Times of short messages vary more.
constexpr double kLatencyLevel = 0.5;
constexpr double kOverheadLevel = 2;
constexpr double kMostOverhead = 0.5;  // of a message's time

// A rank's cap is the sum of its flows in a fan, if it is less than their arcs and links allow. If
// it is close to the rate of the rank's fastest arc, it is set to that rate: the port is as fast as
// its link.
void find_caps(const Measurements& measurements, const ArcRates& rates, Estimate& estimate) {
  for (const Experiment& experiment : measurements.experiments) {
    const bool is_out = experiment.purpose == Purpose::kFanOut;
    if ((!is_out && experiment.purpose != Purpose::kFanIn) || experiment.flows.empty()) continue;
    double cap = experiment.total_bps();
    if (cap <= 0) continue;  // no message arrived in time
    const double allowed = carried_together_bps(experiment.flows, rates, estimate.shared_links);
    if (cap >= (1 - rates.tolerance()) * allowed) continue;
    const std::size_t rank = is_out ? experiment.flows[0].from : experiment.flows[0].to;
    double fastest = 0;
    for (std::size_t other = 0; other < rates.ranks(); ++other) {
      if (other == rank) continue;
      fastest = std::max(fastest, rates.rate_bps(is_out ? Flow{rank, other} : Flow{other, rank}));
    }
    if (cap <= (1 + rates.tolerance()) * fastest) cap = fastest;
    auto& known = (is_out ? estimate.send_Bps : estimate.receive_Bps)[rank];
    known = std::max(known.value_or(0), cap);
  }
}

double least_of(const std::vector<double>& sample) {
  return sample.empty() ? 0 : *std::min_element(sample.begin(), sample.end());
}

// The times of short messages. Disturbances make these slower, never faster.
struct Times {
  explicit Times(const Timing& timing)
      : overhead_s(least_of(timing.gap_s)),
        latency_s(std::max(0.0, least_of(timing.round_trip_s) / 2 - overhead_s)) {}

  double overhead_s;
  double latency_s;
};

// The times of arcs that were not measured: typical ones of the arcs between the same clusters.
class TypicalTimes {
 public:
  TypicalTimes(const Measurements& measurements, const ArcRates& rates) : clusters_(rates) {
    for (const Timing& timing : measurements.timings) {
      const Times times(timing);
      for (Sample* sample : {&of_class_[clusters_.class_of(timing.flow)], &all_}) {
        sample->overheads_s.push_back(times.overhead_s);
        sample->latencies_s.push_back(times.latency_s);
      }
    }
    for (auto& entry : of_class_) entry.second.take_medians();
    all_.take_medians();
  }

  void give_to(Link& link) const {
    const auto [from, to] = clusters_.class_of(link.ends);
    const Sample* sample = &all_;
    for (const ArcClass& one : {ArcClass{to, from}, ArcClass{from, to}}) {
      const auto found = of_class_.find(one);
      if (found != of_class_.end()) sample = &found->second;
    }
    link.overhead_s = sample->overhead_s;
    link.latency_s = sample->latency_s;
  }

 private:
  struct Sample {
    std::vector<double> overheads_s{};
    std::vector<double> latencies_s{};
    double overhead_s = 0;
    double latency_s = 0;
    void take_medians() {
      overhead_s = median_of(overheads_s);
      latency_s = median_of(latencies_s);
    }
  };
  Clusters clusters_;
  std::map<ArcClass, Sample> of_class_{};
  Sample all_{};
};

void find_links(const Measurements& measurements, const ArcRates& rates, Estimate& estimate) {
  std::map<Flow, const Timing*> timing_of;
  for (const Timing& timing : measurements.timings) timing_of[timing.flow] = &timing;
  const TypicalTimes typical(measurements, rates);
  std::vector<std::vector<double>> busy(rates.ranks());
  for (std::size_t from = 0; from < rates.ranks(); ++from) {
    for (std::size_t to = 0; to < rates.ranks(); ++to) {
      Link link{{from, to}, 0, 0, 0};
      if (from == to || rates.rate_bps(link.ends) <= 0) continue;
      link.bandwidth_Bps = rates.rate_bps(link.ends);
      const auto timing = timing_of.find(link.ends);
      if (timing != timing_of.end()) {
        const Times times(*timing->second);
        link.overhead_s = times.overhead_s;
        link.latency_s = times.latency_s;
        busy[from].push_back(least_of(timing->second->send_s));
      } else {
        typical.give_to(link);
      }
      if (rates.was_measured(link.ends)) ++estimate.measured;
      estimate.links.push_back(link);
    }
  }
  std::vector<double> all;
  for (const auto& sample : busy) all.insert(all.end(), sample.begin(), sample.end());
  for (const auto& sample : busy)
    estimate.sender_s.push_back(median_of(sample.empty() ? all : sample));
}

// Makes rates that differ only by noise equal. All kinds of rates are levelled in one set, so that
// a cap close to a link's rate becomes equal to it.
void level_rates(Estimate& estimate) {
  std::vector<double*> figures;
  for (Link& link : estimate.links) figures.push_back(&link.bandwidth_Bps);
  for (auto* caps : {&estimate.send_Bps, &estimate.receive_Bps}) {
    for (auto& cap : *caps) {
      if (cap) figures.push_back(&*cap);
    }
  }
  for (SharedLink& shared_link : estimate.shared_links)
    figures.push_back(&shared_link.bandwidth_Bps);
  std::vector<double> values;
  values.reserve(figures.size());
  for (const double* figure : figures) values.push_back(*figure);
  values = levelled(values, std::max(kLeastLevel, kLevelPerNoise * estimate.noise));
  for (std::size_t i = 0; i < figures.size(); ++i) *figures[i] = values[i];
}

void level_times(Estimate& estimate, double Link::*time, double tolerance) {
  std::vector<double> values;
  for (const Link& link : estimate.links) values.push_back(link.*time);
  values = levelled(values, tolerance);
  for (std::size_t i = 0; i < values.size(); ++i) estimate.links[i].*time = values[i];
}

// Rates were measured with messages that include their overhead: o + s / bandwidth = s / rate.
void take_overheads_out(Estimate& estimate) {
  for (Link& link : estimate.links) {
    const double message_s =
        static_cast<double>(full_chunk_bytes(link.bandwidth_Bps)) / link.bandwidth_Bps;
    const double share = std::min(link.overhead_s / message_s, kMostOverhead);
    link.bandwidth_Bps /= 1 - share;
  }
}

std::vector<std::string> groups_of(const std::vector<std::string>& hosts) {
  const std::set<std::string> different(hosts.begin(), hosts.end());
  if (different.size() == hosts.size() || different.size() <= 1) {
    return std::vector<std::string>(hosts.size());
  }
  return hosts;
}

}  // namespace

std::vector<std::string> node_names(const std::vector<std::string>& hosts) {
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const std::string& host : hosts) names.push_back(up_to_dot(host));
  for (const auto& candidates : {names, hosts}) {
    const std::set<std::string> different(candidates.begin(), candidates.end());
    if (different.size() == hosts.size() && !different.contains("")) return candidates;
  }
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) names[rank] = fmt::format("rank{}", rank);
  return names;
}

Estimate analyse(const Measurements& measurements) {
  const ArcRates rates = rates_by_clusters(measurements);
  Estimate estimate;
  estimate.nodes = node_names(measurements.hosts);
  estimate.groups = groups_of(measurements.hosts);
  estimate.send_Bps.resize(rates.ranks());
  estimate.receive_Bps.resize(rates.ranks());
  estimate.noise = rates.noise();
  estimate.shared_links = shared_links(measurements, rates);
  find_links(measurements, rates, estimate);
  find_caps(measurements, rates, estimate);
  level_rates(estimate);
  level_times(estimate, &Link::latency_s, kLatencyLevel);
  level_times(estimate, &Link::overhead_s, kOverheadLevel);
  estimate.doubtful = rates.doubtful().size();
  for (const Link& link : estimate.links) {
    if (rates.was_disturbed(link.ends)) ++estimate.disturbed;
  }
  fit_models(measurements, estimate);
  take_overheads_out(estimate);
  return estimate;
}

}  // namespace espalier::runtime::probe
