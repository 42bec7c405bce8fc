#include "runtime/measure/effort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/measure/probe.hpp"
#include "runtime/measure/steps/grouping.hpp"
#include "runtime/measure/steps/ports.hpp"
#include "runtime/measure/steps/tournament.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr std::size_t kFewRanks = 16;
constexpr std::uint64_t kLongChunk = std::uint64_t{512} << 10;
constexpr double kFast_Bps = 625e6;

// Transfers of so many rounds and steps for ports, of so many seconds each.
Seconds time_of(std::size_t rounds, std::size_t ports, std::size_t repeats, double seconds) {
  return {static_cast<double>(rounds) * kCalibration_s +
          static_cast<double>((rounds + ports) * repeats) * seconds};
}

}  // namespace

bool measures_all_pairs(std::size_t ranks, double effort) {
  return ranks <= kFewRanks || effort >= kThorough;
}

std::size_t least_repeats_for(double effort) {
  return static_cast<std::size_t>(std::clamp(std::round(3 * std::sqrt(effort)), 2.0, 9.0));
}

std::size_t most_repeats_for(double effort) {
  return 2 * least_repeats_for(effort) + 1;
}

std::size_t port_steps_one_by_one(std::size_t ranks) {
  return (ranks > 2 ? 3 : 1) * ranks;
}

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
  const std::size_t least = least_repeats_for(effort);
  const std::size_t most = most_repeats_for(effort);
  Seconds alone{kAloneBudget_s * effort};
  std::size_t rounds = ordered_pairs(ranks).size();
  std::size_t ports = port_steps_one_by_one(ranks);
  std::size_t timings = rounds;
  if (!measures_all_pairs(ranks, effort)) {
    timings = least_grouping_rounds();
    rounds = (kStepsPerGroupingRound - 1) * timings;
    ports = count_port_steps(ranks);
    const std::size_t more = most_grouping_rounds(ranks) - timings;
    alone.value += time_of((kStepsPerGroupingRound - 1) * more, 0, most, kLongestTransfer_s).value;
  }
  return {.steps = timings + rounds + ports,
          .least = time_of(rounds, ports, least, kShortestTransfer_s),
          .most = time_of(rounds, ports, most, kLongestTransfer_s),
          .alone = alone};
}

}  // namespace espalier::runtime::probe
