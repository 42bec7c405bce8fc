// Probes an unknown network: what is measured, in which order and how often.
//
//   1. short messages along every arc, in rounds of disjoint pairs;
//   2. the bandwidth of every arc, in the same rounds;
//   3. alone: arcs that were slower than their ends are elsewhere, perhaps because of others;
//   4. simultaneously: arcs that may share a link (runtime/measure/shared_links.hpp);
//   5. each rank to several others, several others to it, and in both directions.
//
// Of many ranks, instead of 1 to 3, pairs that show which ranks form clusters
// (runtime/measure/steps/grouping.hpp), the ports of each rank within its cluster
// (steps/ports.hpp), and an arc for each pair of clusters; 4, and 5 for few ranks, follow. The
// number of experiments grows like n log n.
//
// Each transfer lasts until its slowest flow has sent enough bytes to make buffers and full token
// buckets negligible, and is repeated until its median is stable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "runtime/measure/measurements.hpp"
#include "runtime/measure/network.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime::probe {

struct Progress {
  std::string_view doing;  // "bandwidths, in rounds"
  std::size_t done = 0;
  std::size_t planned = 0;   // known so far; results may require more steps
  double seconds_left = -1;  // extrapolated; negative: not known yet
};

// Efforts: names, or any number between the limits, in multiples of "normal".
inline constexpr double kQuick = 0.3;
inline constexpr double kNormal = 1;
inline constexpr double kThorough = 4;
inline constexpr double kLeastEffort = 0.1;
inline constexpr double kMostEffort = 100;
// Throws InputError (reason only) for anything other than quick, normal, thorough or such a number.
double parse_effort(std::string_view text);

// The message size with which a flow of that rate is measured, if there is time for enough
// messages. Up to the eager size MPI sends at once, as the executor does over slow links; fast
// links need longer messages (docs/runtime.md, "Segments").
std::uint64_t full_chunk_bytes(double rate_Bps);

struct ProbeOptions {
  double effort = kNormal;
  std::function<void(const Progress&)> on_progress;        // before each step; may be empty
  std::function<void(const Measurements&)> on_measured{};  // after each step; may be empty
};

// What a probe of so many ranks will take, before anything is measured. The first figure is for
// fast links, the second for slow or unsteady ones; alone: at most so much more where links disturb
// each other. Long latencies add to each.
struct Forecast {
  std::size_t steps = 0;
  Seconds least;
  Seconds most;
  Seconds alone;
};
Forecast forecast(std::size_t ranks, double effort);

// Continues from `so_far`, which names the hosts; its measurements are not repeated.
Measurements measure(Network& network, Measurements so_far, const ProbeOptions& options);

}  // namespace espalier::runtime::probe
