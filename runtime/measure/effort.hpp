// How long a probe's transfers last and how often they are repeated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::runtime::probe {

inline constexpr double kCalibration_s = 0.03;
inline constexpr double kShortestTransfer_s = 0.02;
inline constexpr double kLongestTransfer_s = 0.4;
inline constexpr double kAloneBudget_s = 120;  // for arcs one by one, at normal effort
inline constexpr std::uint64_t kEager = std::uint64_t{60} << 10;
// Latencies, under load and without.
inline constexpr std::size_t kStepsPerGroupingRound = 3;

// Whether every pair of ranks is measured: of few ranks, and by a thorough probe.
bool measures_all_pairs(std::size_t ranks, double effort);
std::size_t least_repeats_for(double effort);
std::size_t most_repeats_for(double effort);
// Steps for the ports of so many ranks, one rank at a time: one to several, several to one, both
// directions.
std::size_t port_steps_one_by_one(std::size_t ranks);

}  // namespace espalier::runtime::probe
