#include "runtime/measure/probe.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/clusters.hpp"
#include "runtime/measure/effort.hpp"
#include "runtime/measure/shared_links.hpp"
#include "runtime/measure/steps/grouping.hpp"
#include "runtime/measure/steps/ports.hpp"
#include "runtime/measure/steps/tournament.hpp"
#include "support/statistics.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr double kEnoughBytes = 2 << 20;  // per flow, at normal effort
constexpr std::size_t kCalibrations = 8;
constexpr double kFarOff = 3;
constexpr double kLeastRate_Bps = 1e5;  // if no better estimate is known
constexpr double kStable = 0.02;        // largest relative uncertainty of a median
constexpr std::size_t kAloneInAnyCase = 128;
constexpr std::size_t kShortMessages = 30;
constexpr std::size_t kTimingRepeats = 3;
constexpr double kChunksOfTransfer = 20;
// A sender's lead at the expected rate: in round trips, more than kFarOff, so that the lead does
// not limit a link that is faster than expected; and as a share of the transfer's time, so that a
// descheduled rank does not stop it.
constexpr double kTripsAhead = 6;
constexpr double kShareAhead = 0.1;
constexpr std::uint64_t kShortestChunk = 1024;
constexpr std::size_t kLoadRepeats = 2;  // of pairs under load, of which no rate is taken

std::uint64_t chunk_for(double rate_Bps, double seconds) {
  const std::uint64_t full = full_chunk_bytes(rate_Bps);
  if (full > kEager) return full;
  const double wanted = rate_Bps * seconds / kChunksOfTransfer;
  return std::clamp(static_cast<std::uint64_t>(wanted), kShortestChunk, full);
}

// The relative uncertainty of a sample's median: the interquartile range, divided by the root of
// the sample's size.
double uncertainty_of(const std::vector<double>& sample) {
  const Quartiles quartiles = quartiles_of(sample);
  if (quartiles.median <= 0) return 0;
  return (quartiles.upper - quartiles.lower) / quartiles.median /
         std::sqrt(static_cast<double>(sample.size()));
}

bool is_stable(const Experiment& experiment) {
  // Where several flows share a port or a link, their shares vary; only the sum must be stable.
  const bool counts_together =
      experiment.purpose != Purpose::kRound && experiment.purpose != Purpose::kAlone;
  std::vector<double> sums(experiment.rates_Bps[0].size());
  for (const auto& rates : experiment.rates_Bps) {
    if (!counts_together && uncertainty_of(rates) > kStable) return false;
    for (std::size_t i = 0; i < rates.size(); ++i) sums[i] += rates[i];
  }
  return uncertainty_of(sums) <= kStable;
}

bool is_under_load(Purpose purpose, const std::vector<Flow>& flows) {
  return purpose == Purpose::kRound && std::ranges::count(have_own_ends(flows), false) > 0;
}

class Probe {
 public:
  Probe(Network& network, Measurements so_far, const ProbeOptions& options)
      : network_(&network), measured_(std::move(so_far)), options_(&options) {
    least_repeats_ = least_repeats_for(options.effort);
    note_round_trips(measured_.timings);
  }

  Measurements run() {
    planned_ = forecast(network_->ranks(), options_->effort).steps;
    if (measures_all_pairs(network_->ranks(), options_->effort)) {
      measure_all_pairs();
    } else {
      measure_clusters();
    }
    report("done");
    return std::move(measured_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void measure_all_pairs() {
    const auto rounds = tournament(network_->ranks());
    for (const auto& round : rounds) {
      time("latencies", round);
      time("latencies", reversed(round));
    }
    for (const auto& round : ordered_pairs(network_->ranks())) {
      transfer("bandwidths, in rounds", {Purpose::kRound, {round}});
    }
    rates_.emplace(measured_);
    measure_alone();
    rates_ = rates_by_clusters(measured_);
    const std::vector<Step> ports = port_steps(*rates_);
    transfer_all("links that several may share", shared_link_tests(*rates_), ports.size());
    transfer_all("ports", ports);
  }

  void measure_clusters() {
    while (const auto round = next_grouping_round(measured_)) measure_in_and_out_of_load(*round);
    rates_ = rates_by_clusters(measured_);
    const Clusters clusters(*rates_);
    transfer_all("ports, within clusters", port_steps_within(*rates_, clusters));
    measure_full_rates(clusters);
    const std::vector<Step> between = steps_between_clusters(*rates_, clusters);
    transfer_all("bandwidths between clusters", between);
    rates_.emplace(measured_);
    transfer_all("bandwidths, alone", to_measure_again(between), 0, 2);
    rates_ = rates_by_clusters(measured_);
    transfer_all("links that several may share", shared_link_tests(*rates_));
    transfer_all("ports", port_steps_between(*rates_, clusters));
  }

  void measure_full_rates(const Clusters& clusters) {
    for (std::size_t i = 0; i < most_grouping_rounds(network_->ranks()); ++i) {
      rates_ = rates_by_clusters(measured_);
      const Step step = arcs_of_full_rate(*rates_, clusters);
      if (step.experiments.empty()) return;
      transfer_all("bandwidths within clusters", {step});
    }
  }

  // Of the arcs measured beside those of other clusters, the ones that these may have disturbed.
  [[nodiscard]] std::vector<Step> to_measure_again(const std::vector<Step>& between) const {
    std::vector<Step> again;
    double left_s = kAloneBudget_s * options_->effort;
    for (const Step& step : between) {
      if (step.experiments.size() < 2) continue;
      for (const auto& flows : step.experiments) {
        if (rates_->reaches_rate_of_ends(flows[0], rates_->rate_bps(flows[0]))) continue;
        left_s -= expected_seconds(flows);
        if (left_s >= 0) again.push_back({Purpose::kAlone, {flows}});
      }
    }
    return again;
  }

  void measure_in_and_out_of_load(const GroupingRound& round) {
    planned_ =
        std::max(planned_, done_ + kStepsPerGroupingRound + count_port_steps(network_->ranks()));
    time("latencies", round.pairs);
    transfer("clusters, under load", {Purpose::kRound, {round.together()}});
    transfer("clusters, without load", {Purpose::kRound, {round.pairs}});
  }

  // As many arcs as the time for this effort allows. One for each ordered pair of clusters, up to a
  // limit, is measured in any case, because the other arcs of the class adopt its rate.
  void measure_alone() {
    double left_s = kAloneBudget_s * options_->effort;
    std::size_t measured = 0;
    for (const Experiment& done : measured_.experiments) {
      if (done.purpose != Purpose::kAlone) continue;
      left_s -= expected_seconds(done.flows);
      ++measured;
    }
    std::vector<Step> transfers;
    for (const Turn& turn : doubtful_in_turns(*rates_)) {
      left_s -= expected_seconds({turn.arc});
      const bool is_needed = turn.number == 0 && measured + transfers.size() < kAloneInAnyCase;
      if (left_s >= 0 || is_needed) transfers.push_back({Purpose::kAlone, {{turn.arc}}});
    }
    transfer_all("bandwidths, alone", transfers, port_steps_one_by_one(network_->ranks()));
  }

  [[nodiscard]] double expected_seconds(const std::vector<Flow>& flows) const {
    return static_cast<double>(least_repeats_) * seconds_for(expected_rates(flows), false);
  }

  // Assumes that flows share their ends fairly.
  [[nodiscard]] std::vector<double> expected_rates(const std::vector<Flow>& flows) const {
    std::vector<double> expected;
    for (const Flow& flow : flows) {
      const auto shares_end = [&](const Flow& other) {
        return other.from == flow.from || other.to == flow.to;
      };
      const auto sharing = static_cast<double>(std::ranges::count_if(flows, shares_end));
      expected.push_back(rates_->rate_bps(flow) / sharing);
    }
    return expected;
  }

  // Where several flows share an end, only their sum matters, and half the bytes of each suffice.
  [[nodiscard]] double seconds_for(const std::vector<double>& rates_Bps, bool share_ends) const {
    const double slowest = *std::min_element(rates_Bps.begin(), rates_Bps.end());
    const double bytes = kEnoughBytes * std::sqrt(options_->effort) / (share_ends ? 2 : 1);
    return slowest > 0 ? std::clamp(bytes / slowest, kShortestTransfer_s, kLongestTransfer_s)
                       : kLongestTransfer_s;
  }

  // later: the number of steps known to follow them. times: how often each will have been measured.
  void transfer_all(std::string_view doing, const std::vector<Step>& steps, std::size_t later = 0,
                    std::size_t times = 1) {
    planned_ = done_ + steps.size() + later;
    for (const Step& step : steps) transfer(doing, step, times);
  }

  void transfer(std::string_view doing, const Step& step, std::size_t times = 1) {
    const bool is_done = std::ranges::all_of(step.experiments, [&](const auto& flows) {
      return measured_.count(step.purpose, flows) >= times;
    });
    if (is_done) {
      --planned_;
      return;
    }
    report(doing);
    std::vector<Flow> flows;
    for (const auto& some : step.experiments) flows.insert(flows.end(), some.begin(), some.end());
    auto [run, rates] = calibrated(step.purpose, flows);
    std::vector<Experiment> experiments;
    for (const auto& some : step.experiments) {
      experiments.push_back({step.purpose, some, std::vector<std::vector<double>>(some.size())});
    }
    for (std::size_t repeat = 1; repeat <= most_repeats_for(options_->effort); ++repeat) {
      if (repeat > 1) rates = network_->transfer(run);
      auto rate = rates.begin();
      for (Experiment& experiment : experiments) {
        for (auto& sample : experiment.rates_Bps) sample.push_back(*rate++);
      }
      if (is_enough(experiments, repeat)) break;
    }
    std::ranges::move(experiments, std::back_inserter(measured_.experiments));
    report_measured();
  }

  [[nodiscard]] bool is_enough(const std::vector<Experiment>& experiments,
                               std::size_t repeats) const {
    const Experiment& first = experiments[0];
    if (is_under_load(first.purpose, first.flows))
      return repeats >= std::min(kLoadRepeats, least_repeats_);
    return repeats >= least_repeats_ && std::ranges::all_of(experiments, is_stable);
  }

  struct Calibrated {
    Transfer run;
    std::vector<double> rates_Bps;  // measured rates
  };

  // A transfer that is long enough for the approximate rates of its flows, which are taken from
  // earlier transfers (of pairs without load, from that under load), or from a short one that also
  // opens the connections. If the expected rates
  // were far too low, a rank was descheduled, or the sender's lead was too small for a high-latency
  // route.
  Calibrated calibrated(Purpose purpose, const std::vector<Flow>& flows) {
    std::vector<double> expected;
    if (rates_) {
      expected = expected_rates(flows);
    } else if (is_last_without_load(flows)) {
      for (std::size_t i = 0; i < flows.size(); ++i) {
        expected.push_back(measured_.experiments.back().rate_bps(i));
      }
    } else {
      Transfer first{{}, kCalibration_s};
      for (const Flow& flow : flows) first.streams.push_back({flow, kEager / 4, 0});
      expected = network_->transfer(first);
    }
    Transfer run = transfer_for(purpose, flows, expected);
    for (std::size_t attempt = 0; attempt < kCalibrations; ++attempt) {
      const std::vector<double> seen = network_->transfer(run);
      bool is_far_off = false;
      for (std::size_t i = 0; i < flows.size(); ++i) {
        is_far_off = is_far_off || seen[i] > kFarOff * std::max(expected[i], kLeastRate_Bps);
        expected[i] = std::max(expected[i], seen[i]);
      }
      if (!is_far_off) return {transfer_for(purpose, flows, seen), seen};
      run = transfer_for(purpose, flows, expected);
    }
    std::vector<double> seen = network_->transfer(run);
    return {std::move(run), std::move(seen)};
  }

  // Whether these are the pairs that have just been measured under load.
  [[nodiscard]] bool is_last_without_load(const std::vector<Flow>& flows) const {
    if (measured_.experiments.empty()) return false;
    const auto& [purpose, last, rates] = measured_.experiments.back();
    return is_under_load(purpose, last) && flows.size() < last.size() &&
           std::equal(flows.begin(), flows.end(), last.begin());
  }

  [[nodiscard]] Transfer transfer_for(Purpose purpose, const std::vector<Flow>& flows,
                                      std::vector<double> expected) const {
    for (double& rate : expected) rate = std::max(rate, kLeastRate_Bps);
    const bool is_fan = purpose == Purpose::kFanOut || purpose == Purpose::kFanIn;
    Transfer run{{}, seconds_for(expected, is_fan || is_under_load(purpose, flows))};
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const double ahead_s = kTripsAhead * round_trip_s(flows[i]) + kShareAhead * run.seconds;
      run.streams.push_back({flows[i], chunk_for(expected[i], run.seconds),
                             static_cast<std::uint64_t>(expected[i] * ahead_s)});
    }
    return run;
  }

  [[nodiscard]] double round_trip_s(const Flow& flow) const {
    const auto timing = std::ranges::find(measured_.timings, flow, &Timing::flow);
    // A lead that is too short would limit the flow.
    return timing == measured_.timings.end() ? longest_round_trip_s_
                                             : median_of(timing->round_trip_s);
  }

  void time(std::string_view doing, const std::vector<Flow>& flows) {
    std::vector<Flow> missing;
    std::ranges::copy_if(flows, std::back_inserter(missing), [&](const Flow& flow) {
      return std::ranges::find(measured_.timings, flow, &Timing::flow) == measured_.timings.end();
    });
    if (missing.empty()) {
      --planned_;
      return;
    }
    report(doing);
    std::vector<Timing> timings;
    for (const Flow& flow : missing) timings.push_back({flow, {}, {}, {}});
    for (std::size_t repeat = 0; repeat < kTimingRepeats; ++repeat) {
      const std::vector<ShortMessages> seen = network_->exchange(missing, kShortMessages);
      for (std::size_t i = 0; i < missing.size(); ++i) {
        timings[i].round_trip_s.push_back(seen[i].round_trip_s);
        timings[i].gap_s.push_back(seen[i].gap_s);
        timings[i].send_s.push_back(seen[i].send_s);
      }
    }
    measured_.timings.insert(measured_.timings.end(), timings.begin(), timings.end());
    note_round_trips(timings);
    report_measured();
  }

  void note_round_trips(const std::vector<Timing>& timings) {
    for (const Timing& timing : timings) {
      longest_round_trip_s_ = std::max(longest_round_trip_s_, median_of(timing.round_trip_s));
    }
  }

  void report(std::string_view doing) const {
    if (!options_->on_progress) return;
    const double elapsed = std::chrono::duration<double>(Clock::now() - begun_).count();
    const double left =
        done_ == 0 ? -1
                   : elapsed / static_cast<double>(done_) * static_cast<double>(planned_ - done_);
    options_->on_progress({doing, done_, planned_, left});
  }

  void report_measured() {
    ++done_;
    if (options_->on_measured) options_->on_measured(measured_);
  }

  Network* network_;
  Measurements measured_;
  std::optional<ArcRates> rates_;  // set after the rounds
  const ProbeOptions* options_;
  std::size_t least_repeats_ = 0;
  double longest_round_trip_s_ = 0;
  std::size_t planned_ = 0;
  std::size_t done_ = 0;
  Clock::time_point begun_ = Clock::now();
};

}  // namespace

Measurements measure(Network& network, Measurements so_far, const ProbeOptions& options) {
  return Probe(network, std::move(so_far), options).run();
}

}  // namespace espalier::runtime::probe
