// The raw measurements of a probe, and their file format.
//
// Apart from short messages there is one kind of experiment: some ranks send to others at the same
// time, for a fixed time, and the rate of each flow is recorded. The choice of simultaneous flows
// distinguishes ports, caps and shared links (runtime/measure/analysis.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::runtime::probe {

// One rank sends to another.
struct Flow {
  std::size_t from;
  std::size_t to;
  friend bool operator==(const Flow&, const Flow&) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes a defaulted <=> for a null pointer
  friend auto operator<=>(const Flow&, const Flow&) = default;
};

// Of each flow, whether no other one has an end in common with it.
std::vector<bool> have_own_ends(std::span<const Flow> flows);

// The purpose of an experiment. All but rounds may have been measured at the same time as others
// of ranks or clusters that do not disturb them.
enum class Purpose : std::uint8_t {
  kRound,        // disjoint pairs; also beside flows among the other ranks, to load the network
  kAlone,        // one flow, without other traffic
  kFanOut,       // one rank to several
  kFanIn,        // several ranks to one
  kBothWays,     // one rank sends to one while it receives from one
  kSharedLinks,  // disjoint pairs that may share a link
};
std::string_view name_of(Purpose purpose);

struct Experiment {
  Purpose purpose;
  std::vector<Flow> flows;
  std::vector<std::vector<double>> rates_Bps;  // [flow][repeat], bytes/s of payload

  // The median over the repeats; 0 without repeats.
  [[nodiscard]] double rate_bps(std::size_t flow) const;
  // The sum of these.
  [[nodiscard]] double total_bps() const;
};

// Short messages along one arc.
struct Timing {
  Flow flow;
  std::vector<double> round_trip_s;  // there and back, one byte
  std::vector<double> gap_s;         // time per message in a train of them
  std::vector<double> send_s;        // sender's time per message
};

struct Measurements {
  std::vector<std::string> hosts;  // MPI_Get_processor_name of each rank
  std::vector<Timing> timings;
  std::vector<Experiment> experiments;  // in the order of measurement

  // The number of experiments with this purpose and these flows.
  [[nodiscard]] std::size_t count(Purpose purpose, std::span<const Flow> flows) const;
};

// The file format: {"format": "espalier-measurements", "version": 1, "hosts": [...],
//  "timings": [{"flow": [0, 1], "round_trip_s": [...], "gap_s": [...], "send_s": [...]}],
//  "experiments": [{"purpose": "round", "flows": [[0, 1], ...], "rates_Bps": [[...], ...]}]}
std::string measurements_json(const Measurements& measurements);
// Throws InputError (file, JSON pointer, reason) for malformed text, another version, an unknown
// rank, a rate that is negative, not finite or over 1e18, and a fan whose flows do not share one
// rank.
Measurements parse_measurements(std::string_view text, const std::string& file);

}  // namespace espalier::runtime::probe
