#include "planner/plan/send_windows.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::planner {

namespace {

constexpr double kPace = 0.8;       // of a slice's time at its tree's rate
constexpr double kLong = 1.0 / 16;  // of a slice
constexpr double kVeryLong = 1.0 / 4;

// Whether `on_the_way` is at least `share` of the slice.
bool is_at_least(double on_the_way, double share, Bytes slice) {
  return on_the_way >= share * static_cast<double>(slice.value);
}

}  // namespace

double bytes_on_the_way(const PlanTree& tree, std::size_t edge) {
  return tree.rate.value * tree.latency(edge).value;
}

double most_bytes_on_the_way(std::span<const PlanTree> trees) {
  double most = 0;
  for (const PlanTree& tree : trees) {
    for (std::size_t edge = 0; edge < tree.latencies.size(); ++edge) {
      most = std::max(most, bytes_on_the_way(tree, edge));
    }
  }
  return most;
}

double most_bytes_on_the_way(const Plan& plan) {
  return std::max(most_bytes_on_the_way(plan.reduce_trees),
                  most_bytes_on_the_way(plan.broadcast_trees));
}

bool keeps_pace(double most_on_the_way, Bytes slice) {
  return is_at_least(most_on_the_way, kLong, slice);
}

Seconds pace(BytesPerSecond rate, Bytes slice) {
  return {kPace * static_cast<double>(slice.value) / rate.value};
}

std::uint64_t slices_on_the_way(double on_the_way, Bytes slice, bool asks) {
  if (!is_at_least(on_the_way, kLong, slice)) return 0;
  const double slices = std::ceil((asks ? 2 : 1) * on_the_way / static_cast<double>(slice.value));
  // Compared as doubles: what is above may not fit into an integer.
  return slices < static_cast<double>(kMostOnTheWay) ? static_cast<std::uint64_t>(slices)
                                                     : kMostOnTheWay;
}

std::uint64_t send_window(std::uint64_t base, double on_the_way, Bytes slice, bool asks) {
  return base + slices_on_the_way(on_the_way, slice, asks) +
         (is_at_least(on_the_way, kVeryLong, slice) ? kFarSends : 0);
}

std::uint64_t window_holding(Bytes bytes, Bytes slice, std::uint64_t base) {
  const std::uint64_t slices = bytes.value / slice.value + (bytes.value % slice.value != 0 ? 1 : 0);
  return std::max(base, std::min(slices, kMostOnTheWay));
}

}  // namespace espalier::planner
