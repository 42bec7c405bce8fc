// What a probe has measured, before anything is concluded from it, and its file.
//
// Everything but short messages is one kind of experiment: some ranks send to some others for a
// fixed time, all at once, and what each of these flows carried is its rate. Which flows run
// together is what tells ports, caps and shared links apart (runtime/measure/analysis.hpp).
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

// Why flows were run together.
enum class Purpose : std::uint8_t {
  kRound,        // disjoint pairs: every arc once
  kAlone,        // one flow, nothing beside it
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

  // The median over the repeats; 0 for an experiment without any.
  [[nodiscard]] double rate_bps(std::size_t flow) const;
};

// Short messages along one arc.
struct Timing {
  Flow flow;
  std::vector<double> round_trip_s;  // there and back, one byte
  std::vector<double> gap_s;         // time per message of a train of them
  std::vector<double> send_s;        // what the sender is busy with for each
};

struct Measurements {
  std::vector<std::string> hosts;  // where each rank runs, as MPI calls it
  std::vector<Timing> timings;
  std::vector<Experiment> experiments;  // in the order in which they were made

  [[nodiscard]] const Experiment* find(Purpose purpose, std::span<const Flow> flows) const;
};

// The file: {"format": "espalier-measurements", "version": 1, "hosts": [...],
//  "timings": [{"flow": [0, 1], "round_trip_s": [...], "gap_s": [...], "send_s": [...]}],
//  "experiments": [{"purpose": "round", "flows": [[0, 1], ...], "rates_Bps": [[...], ...]}]}
std::string measurements_json(const Measurements& measurements);
// Throws InputError with file, place and reason: no such file, another version, a rank that is
// none, a rate that is not finite and not negative, or over 1e18, a fan of several ranks.
Measurements parse_measurements(std::string_view text, const std::string& file);

}  // namespace espalier::runtime::probe
