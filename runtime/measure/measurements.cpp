#include "runtime/measure/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "support/errors.hpp"
#include "support/json.hpp"
#include "support/nearest_name.hpp"
#include "support/statistics.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr std::string_view kFormat = "espalier-measurements";
constexpr std::uint64_t kVersion = 1;
constexpr std::array<std::string_view, 6> kPurposes = {"round",  "alone",     "fan-out",
                                                       "fan-in", "both-ways", "wires"};

Json json_of(const Flow& flow) {
  return Json::array({flow.from, flow.to});
}

Flow flow_at(const JsonCursor& at, std::size_t ranks) {
  const auto ends = at.elements();
  if (ends.size() != 2) at.refuse("a flow is a pair of ranks");
  for (const JsonCursor& end : ends) {
    if (end.unsigned_integer() >= ranks) end.refuse(fmt::format("there are {} ranks", ranks));
  }
  const Flow flow{ends[0].unsigned_integer(), ends[1].unsigned_integer()};
  if (flow.from == flow.to) at.refuse("a rank cannot send to itself");
  return flow;
}

// No network carries more bytes per second, and sums of such values stay finite.
constexpr double kMostFigure = 1e18;

std::vector<double> sample_at(const JsonCursor& at) {
  std::vector<double> sample;
  for (const JsonCursor& figure : at.elements()) {
    if (figure.number() < 0) figure.refuse("a measured value must not be negative");
    if (figure.number() > kMostFigure) {
      figure.refuse(fmt::format("{} is above {}, which no measurement can reach", figure.number(),
                                kMostFigure));
    }
    sample.push_back(figure.number());
  }
  return sample;
}

Purpose purpose_at(const JsonCursor& at) {
  const auto found = std::find(kPurposes.begin(), kPurposes.end(), at.string());
  if (found == kPurposes.end()) at.refuse(unknown_name("purpose", at.string(), kPurposes));
  return static_cast<Purpose>(found - kPurposes.begin());
}

Timing timing_at(const JsonCursor& at, std::size_t ranks) {
  at.expect_object({"flow", "round_trip_s", "gap_s", "send_s"});
  return {flow_at(at.at("flow"), ranks), sample_at(at.at("round_trip_s")),
          sample_at(at.at("gap_s")), sample_at(at.at("send_s"))};
}

// The flows of a fan must share one rank.
void require_fan(const JsonCursor& at, const Experiment& experiment) {
  const bool is_out = experiment.purpose == Purpose::kFanOut;
  if (!is_out && experiment.purpose != Purpose::kFanIn) return;
  const std::size_t Flow::*const end = is_out ? &Flow::from : &Flow::to;
  for (const Flow& flow : experiment.flows) {
    if (flow.*end != experiment.flows.front().*end) {
      at.refuse(fmt::format("all flows of a {} must go {} one rank", name_of(experiment.purpose),
                            is_out ? "from" : "to"));
    }
  }
}

Experiment experiment_at(const JsonCursor& at, std::size_t ranks) {
  at.expect_object({"purpose", "flows", "rates_Bps"});
  Experiment experiment{purpose_at(at.at("purpose")), {}, {}};
  for (const JsonCursor& flow : at.at("flows").elements()) {
    experiment.flows.push_back(flow_at(flow, ranks));
  }
  if (experiment.flows.empty()) at.at("flows").refuse("has no flow");
  if (std::set(experiment.flows.begin(), experiment.flows.end()).size() < experiment.flows.size()) {
    at.at("flows").refuse("has a flow twice");
  }
  require_fan(at.at("flows"), experiment);
  for (const JsonCursor& rates : at.at("rates_Bps").elements()) {
    experiment.rates_Bps.push_back(sample_at(rates));
    const std::size_t repeats = experiment.rates_Bps.back().size();
    if (repeats == 0) rates.refuse("has no rate");
    if (repeats != experiment.rates_Bps.front().size()) {
      rates.refuse(fmt::format("has {} repeats, the first flow {}", repeats,
                               experiment.rates_Bps.front().size()));
    }
  }
  if (experiment.rates_Bps.size() != experiment.flows.size()) {
    at.refuse(fmt::format("{} flows, but rates of {}", experiment.flows.size(),
                          experiment.rates_Bps.size()));
  }
  return experiment;
}

}  // namespace

std::vector<bool> have_own_ends(std::span<const Flow> flows) {
  std::map<std::size_t, std::size_t> flows_at;
  for (const Flow& flow : flows) {
    ++flows_at[flow.from];
    ++flows_at[flow.to];
  }
  std::vector<bool> own;
  for (const Flow& flow : flows) own.push_back(flows_at[flow.from] + flows_at[flow.to] == 2);
  return own;
}

std::string_view name_of(Purpose purpose) {
  return kPurposes[static_cast<std::size_t>(purpose)];
}

double Experiment::rate_bps(std::size_t flow) const {
  return flow < rates_Bps.size() ? median_of(rates_Bps[flow]) : 0;
}

double Experiment::total_bps() const {
  double sum = 0;
  for (std::size_t flow = 0; flow < flows.size(); ++flow) sum += rate_bps(flow);
  return sum;
}

std::size_t Measurements::count(Purpose purpose, std::span<const Flow> flows) const {
  return static_cast<std::size_t>(std::ranges::count_if(experiments, [&](const Experiment& one) {
    return one.purpose == purpose && std::ranges::equal(one.flows, flows);
  }));
}

std::string measurements_json(const Measurements& measurements) {
  std::string text =
      fmt::format("{{\"format\": \"{}\", \"version\": {}, \"hosts\": {},\n \"timings\": [", kFormat,
                  kVersion, Json(measurements.hosts).dump());
  const char* between = "\n  ";
  for (const Timing& timing : measurements.timings) {
    const Json json = {{"flow", json_of(timing.flow)},
                       {"round_trip_s", timing.round_trip_s},
                       {"gap_s", timing.gap_s},
                       {"send_s", timing.send_s}};
    text += between + json.dump();
    between = ",\n  ";
  }
  text += "],\n \"experiments\": [";
  between = "\n  ";
  for (const Experiment& experiment : measurements.experiments) {
    Json json = {{"purpose", name_of(experiment.purpose)}, {"flows", Json::array()}};
    for (const Flow& flow : experiment.flows) json["flows"].push_back(json_of(flow));
    json["rates_Bps"] = experiment.rates_Bps;
    text += between + json.dump();
    between = ",\n  ";
  }
  return text + "]}\n";
}

Measurements parse_measurements(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  const JsonCursor root(document, file);
  root.expect_object({"format", "version", "hosts", "timings", "experiments"});
  if (root.at("format").string() != kFormat) {
    root.at("format").refuse(fmt::format("expected '{}'", kFormat));
  }
  if (root.at("version").unsigned_integer() != kVersion) {
    root.at("version").refuse(fmt::format("this program reads version {}", kVersion));
  }
  Measurements measurements;
  for (const JsonCursor& host : root.at("hosts").elements()) {
    measurements.hosts.push_back(host.string());
  }
  const std::size_t ranks = measurements.hosts.size();
  for (const JsonCursor& timing : root.at("timings").elements()) {
    measurements.timings.push_back(timing_at(timing, ranks));
  }
  for (const JsonCursor& experiment : root.at("experiments").elements()) {
    measurements.experiments.push_back(experiment_at(experiment, ranks));
  }
  return measurements;
}

}  // namespace espalier::runtime::probe
