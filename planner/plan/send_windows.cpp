#include "planner/plan/send_windows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace espalier::planner {

namespace {

constexpr double kPace = 0.8;       // of a segment's time at its tree's rate
constexpr double kLong = 1.0 / 16;  // of a segment
constexpr double kVeryLong = 1.0 / 4;

// Whether `in_flight` is at least `share` of the segment.
bool is_at_least(double in_flight, double share, Bytes segment) {
  return in_flight >= share * static_cast<double>(segment.value);
}

}  // namespace

double bytes_in_flight(const PlanTree& tree, std::size_t edge) {
  return tree.rate.value * tree.latency(edge).value;
}

double most_bytes_in_flight(std::span<const PlanTree> trees) {
  double most = 0;
  for (const PlanTree& tree : trees) {
    for (std::size_t edge = 0; edge < tree.latencies.size(); ++edge) {
      most = std::max(most, bytes_in_flight(tree, edge));
    }
  }
  return most;
}

double most_bytes_in_flight(const Plan& plan) {
  double most = 0;
  for (const PlanTrees& block : blocks_of(plan)) {
    most = std::max(most, most_bytes_in_flight(*block.trees));
  }
  return most;
}

bool keeps_pace(double most_in_flight, Bytes segment) {
  return is_at_least(most_in_flight, kLong, segment);
}

Seconds pace(BytesPerSecond rate, Bytes segment) {
  return {kPace * static_cast<double>(segment.value) / rate.value};
}

double stagger(std::size_t number) {
  const double paces = static_cast<double>(number) / std::numbers::phi;
  return paces - std::floor(paces);
}

std::uint64_t segments_in_flight(double in_flight, Bytes segment, bool asks) {
  if (!is_at_least(in_flight, kLong, segment)) return 0;
  const double segments =
      std::ceil((asks ? 2 : 1) * in_flight / static_cast<double>(segment.value));
  // Compared as doubles: a larger value may not fit into an integer.
  return segments < static_cast<double>(kMostInFlight) ? static_cast<std::uint64_t>(segments)
                                                       : kMostInFlight;
}

std::uint64_t send_window(std::uint64_t base, double in_flight, Bytes segment, bool asks) {
  return base + segments_in_flight(in_flight, segment, asks) +
         (is_at_least(in_flight, kVeryLong, segment) ? kHighLatencySends : 0);
}

std::uint64_t window_holding(Bytes bytes, Bytes segment, std::uint64_t base) {
  const std::uint64_t segments =
      bytes.value / segment.value + (bytes.value % segment.value != 0 ? 1 : 0);
  return std::max(base, std::min(segments, kMostInFlight));
}

}  // namespace espalier::planner
