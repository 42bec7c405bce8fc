// Probing a network whose links nobody has told of: what is measured, in which order, how often.
//
//   1. short messages along every arc, in rounds of disjoint pairs;
//   2. the bandwidth of every arc, in the same rounds;
//   3. arcs that were slower than their ends are elsewhere, alone: others may have been in the way;
//   4. where others were, arcs that may share a link, together (runtime/measure/links.hpp);
//   5. each rank to several at once, several to it, and both ways.
//
// Each transfer lasts as long as its slowest flow needs for enough bytes to make buffers and full
// token buckets negligible, and is repeated until its median is stable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "runtime/measure/measurements.hpp"
#include "runtime/measure/network.hpp"

namespace espalier::runtime::probe {

struct Progress {
  std::string_view doing;  // "bandwidths, in rounds"
  std::size_t done = 0;
  std::size_t planned = 0;   // as far as known: what is found may ask for more
  double seconds_left = -1;  // by the pace so far; negative: not known yet
};

// How thorough: named efforts and any number between the limits, in multiples of "normal".
inline constexpr double kQuick = 0.3;
inline constexpr double kNormal = 1;
inline constexpr double kThorough = 4;
inline constexpr double kLeastEffort = 0.1;
inline constexpr double kMostEffort = 100;
// Throws InputError (reason only) for anything else than quick, normal, thorough or such a number.
double parse_effort(std::string_view text);

// In messages of how many bytes a flow of that rate is measured, where it has time for enough of
// them. Up to some size MPI sends at once, which over slow links is what the executor does as well;
// fast ones need longer messages (docs/runtime.md, "Slices").
std::uint64_t full_chunk_bytes(double rate_Bps);

struct ProbeOptions {
  double effort = kNormal;
  std::function<void(const Progress&)> on_progress;        // before each step; may be empty
  std::function<void(const Measurements&)> on_measured{};  // after each step; may be empty
};

// Goes on from `so_far`, which names the hosts: what is in it is not measured again.
Measurements measure(Network& network, Measurements so_far, const ProbeOptions& options);

}  // namespace espalier::runtime::probe
