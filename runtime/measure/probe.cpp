#include "runtime/measure/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <set>

#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/clusters.hpp"
#include "runtime/measure/shared_links.hpp"
#include "runtime/measure/tournament.hpp"
#include "support/errors.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr double kEnoughBytes = 2 << 20;  // per flow, at normal effort
constexpr double kShortestTransfer_s = 0.02;
constexpr double kLongestTransfer_s = 0.4;
constexpr double kCalibration_s = 0.03;
constexpr std::size_t kCalibrations = 8;
constexpr double kFarOff = 3;
constexpr double kLeastRate_Bps = 1e5;  // if no better estimate is known
constexpr double kStable = 0.02;        // largest relative uncertainty of a median
constexpr double kAloneBudget_s = 120;
constexpr std::size_t kAloneInAnyCase = 128;
constexpr std::size_t kShortMessages = 30;
constexpr std::size_t kTimingRepeats = 3;
constexpr std::uint64_t kEager = std::uint64_t{60} << 10;
constexpr std::uint64_t kLongChunk = std::uint64_t{512} << 10;
constexpr double kFast_Bps = 625e6;
constexpr double kChunksOfTransfer = 20;
// A sender's lead at the expected rate: in round trips, more than kFarOff, so that the lead does
// not limit a link that is faster than expected; and as a share of the transfer's time, so that a
// descheduled rank does not stop it.
constexpr double kTripsAhead = 6;
constexpr double kShareAhead = 0.1;
constexpr std::uint64_t kShortestChunk = 1024;
// A fan has this many of the rank's fastest and this many of its slowest arcs.
constexpr std::size_t kFastest = 4;
constexpr std::size_t kSlowest = 3;

std::size_t least_repeats_for(double effort) {
  return static_cast<std::size_t>(std::clamp(std::round(3 * std::sqrt(effort)), 2.0, 9.0));
}

std::size_t most_repeats_for(double effort) {
  return 2 * least_repeats_for(effort) + 1;
}

// One to several, several to one, both directions.
std::size_t ends_of(std::size_t ranks) {
  return (ranks > 2 ? 3 : 1) * ranks;
}

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

std::vector<Flow> fan(const ArcRates& rates, std::size_t rank, bool out) {
  std::vector<Flow> flows;
  for (std::size_t other = 0; other < rates.ranks(); ++other) {
    if (other != rank) flows.push_back(out ? Flow{rank, other} : Flow{other, rank});
  }
  std::stable_sort(flows.begin(), flows.end(), [&](const Flow& a, const Flow& b) {
    return rates.rate_bps(a) > rates.rate_bps(b);
  });
  if (flows.size() > kFastest + kSlowest) {
    flows.erase(flows.begin() + kFastest, flows.end() - kSlowest);
  }
  std::sort(flows.begin(), flows.end());
  return flows;
}

// The rank's fastest arc to one rank, and from another one if there is one.
std::vector<Flow> both_ways(const ArcRates& rates, std::size_t rank) {
  Flow out{rank, rank};
  Flow in{rank, rank};
  for (std::size_t other = 0; other < rates.ranks(); ++other) {
    const Flow arc{rank, other};
    if (other != rank && (out.to == rank || rates.rate_bps(arc) > rates.rate_bps(out))) out = arc;
  }
  for (std::size_t other = 0; other < rates.ranks(); ++other) {
    const Flow arc{other, rank};
    if (other == rank || (other == out.to && rates.ranks() > 2)) continue;
    if (in.from == rank || rates.rate_bps(arc) > rates.rate_bps(in)) in = arc;
  }
  return {out, in};
}

class Probe {
 public:
  Probe(Network& network, Measurements so_far, const ProbeOptions& options)
      : network_(&network), measured_(std::move(so_far)), options_(&options) {
    least_repeats_ = least_repeats_for(options.effort);
  }

  Measurements run() {
    const auto rounds = tournament(network_->ranks());
    const std::size_t ranks = network_->ranks();
    planned_ = 4 * rounds.size() + ends_of(ranks);
    for (const auto& round : rounds) {
      time("latencies", round);
      time("latencies", reversed(round));
    }
    for (const auto& leg : {rounds, second_leg(rounds, ranks)}) {
      for (const auto& round : leg) transfer("bandwidths, in rounds", Purpose::kRound, round);
    }
    rates_.emplace(measured_);
    measure_alone();
    rates_ = rates_by_clusters(measured_);
    transfer_all("links that several may share", Purpose::kSharedLinks, shared_link_tests(*rates_));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (ranks > 2) {
        transfer("one to several", Purpose::kFanOut, fan(*rates_, rank, true));
        transfer("several to one", Purpose::kFanIn, fan(*rates_, rank, false));
      }
      transfer("both directions", Purpose::kBothWays, both_ways(*rates_, rank));
    }
    report("done");
    return std::move(measured_);
  }

 private:
  using Clock = std::chrono::steady_clock;

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
    std::vector<std::vector<Flow>> transfers;
    for (const Turn& turn : doubtful_in_turns(*rates_)) {
      left_s -= expected_seconds({turn.arc});
      const bool is_needed = turn.number == 0 && measured + transfers.size() < kAloneInAnyCase;
      if (left_s >= 0 || is_needed) transfers.push_back({turn.arc});
    }
    transfer_all("bandwidths, alone", Purpose::kAlone, transfers);
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

  void transfer_all(std::string_view doing, Purpose purpose,
                    const std::vector<std::vector<Flow>>& transfers) {
    planned_ += transfers.size();
    for (const auto& flows : transfers) transfer(doing, purpose, flows);
  }

  void transfer(std::string_view doing, Purpose purpose, const std::vector<Flow>& flows) {
    if (measured_.find(purpose, flows)) {
      --planned_;
      return;
    }
    report(doing);
    auto [run, rates] = calibrated(purpose, flows);
    Experiment experiment{purpose, flows, std::vector<std::vector<double>>(flows.size())};
    const std::size_t most_repeats = most_repeats_for(options_->effort);
    for (std::size_t repeat = 1; repeat <= most_repeats; ++repeat) {
      if (repeat > 1) rates = network_->transfer(run);
      for (std::size_t i = 0; i < flows.size(); ++i) experiment.rates_Bps[i].push_back(rates[i]);
      if (repeat >= least_repeats_ && is_stable(experiment)) break;
    }
    measured_.experiments.push_back(std::move(experiment));
    report_measured();
  }

  struct Calibrated {
    Transfer run;
    std::vector<double> rates_Bps;  // measured rates
  };

  // A transfer that is long enough for the approximate rates of its flows, which are taken from
  // earlier transfers, or from a short one that also opens the connections. If the expected rates
  // were far too low, a rank was descheduled, or the sender's lead was too small for a high-latency
  // route.
  Calibrated calibrated(Purpose purpose, const std::vector<Flow>& flows) {
    std::vector<double> expected;
    if (purpose == Purpose::kRound) {
      Transfer first{{}, kCalibration_s};
      for (const Flow& flow : flows) first.streams.push_back({flow, kEager / 4, 0});
      expected = network_->transfer(first);
    } else {
      expected = expected_rates(flows);
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

  [[nodiscard]] Transfer transfer_for(Purpose purpose, const std::vector<Flow>& flows,
                                      std::vector<double> expected) const {
    for (double& rate : expected) rate = std::max(rate, kLeastRate_Bps);
    const bool shares_ends = purpose == Purpose::kFanOut || purpose == Purpose::kFanIn;
    Transfer run{{}, seconds_for(expected, shares_ends)};
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const double ahead_s = kTripsAhead * round_trip_s(flows[i]) + kShareAhead * run.seconds;
      run.streams.push_back({flows[i], chunk_for(expected[i], run.seconds),
                             static_cast<std::uint64_t>(expected[i] * ahead_s)});
    }
    return run;
  }

  [[nodiscard]] double round_trip_s(const Flow& flow) const {
    return median_of(std::ranges::find(measured_.timings, flow, &Timing::flow)->round_trip_s);
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
    report_measured();
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
  std::size_t planned_ = 0;
  std::size_t done_ = 0;
  Clock::time_point begun_ = Clock::now();
};

}  // namespace

std::uint64_t full_chunk_bytes(double rate_Bps) {
  return rate_Bps > kFast_Bps ? kLongChunk : kEager;
}

double parse_effort(std::string_view text) {
  if (text == "quick") return kQuick;
  if (text == "normal") return kNormal;
  if (text == "thorough") return kThorough;
  const auto effort = parse_number(text);
  if (!effort || *effort < kLeastEffort || *effort > kMostEffort) {
    throw InputError(
        fmt::format("{} is neither quick, normal or thorough nor a number from {} to {}",
                    in_quotes(text), kLeastEffort, kMostEffort));
  }
  return *effort;
}

Forecast forecast(std::size_t ranks, double effort) {
  const std::size_t rounds = 2 * tournament(ranks).size();
  const auto transfers = static_cast<double>(rounds + ends_of(ranks));
  const auto repeated = [&](std::size_t times, double seconds) {
    return Seconds{static_cast<double>(rounds) * kCalibration_s +
                   transfers * static_cast<double>(times) * seconds};
  };
  return {.steps = 2 * rounds + ends_of(ranks),
          .least = repeated(least_repeats_for(effort), kShortestTransfer_s),
          .most = repeated(most_repeats_for(effort), kLongestTransfer_s),
          .alone = {kAloneBudget_s * effort}};
}

Measurements measure(Network& network, Measurements so_far, const ProbeOptions& options) {
  return Probe(network, std::move(so_far), options).run();
}

}  // namespace espalier::runtime::probe
