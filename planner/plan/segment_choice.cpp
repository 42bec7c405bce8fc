#include "planner/plan/segment_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "planner/plan/send_windows.hpp"

namespace espalier::planner {

namespace {

constexpr double kLeastSegment =
    8192;                              // below, the overhead per segment dominates on every network
constexpr double kEagerMayCost = 0.1;  // as a share of the time

// Hops after the first, summed over all trees.
double hops_of(const Plan& plan) {
  const std::uint32_t source = source_index(plan);
  double hops = 0;
  for (const auto* trees : {&plan.reduce_trees, &plan.broadcast_trees}) {
    for (const PlanTree& tree : *trees) {
      hops += static_cast<double>(std::max<std::size_t>(depth_of(tree, source), 1) - 1);
    }
  }
  return hops;
}

// For an allreduce, the largest latency of the reduce trees plus that of the broadcast trees.
// Otherwise high-latency trees end earlier (planner/plan/segment_assignment.hpp), so the latencies
// are averaged, weighted by what the trees carry.
double latency_of(const Plan& plan) {
  double sum = 0;
  for (const auto* trees : {&plan.reduce_trees, &plan.broadcast_trees}) {
    double longest = 0;
    double mean = 0;
    for (const PlanTree& tree : *trees) {
      const double latency_s = latency_of(tree, source_index(plan)).value;
      longest = std::max(longest, latency_s);
      mean += tree.rate.value / plan.throughput.value * latency_s;
    }
    sum += plan.operation == Operation::kAllreduce ? longest : mean;
  }
  return sum;
}

}  // namespace

std::uint64_t fitted_segment(const Plan& plan, Bytes message, const SegmentCosts& costs) {
  const double hops = hops_of(plan);
  const double rate = plan.throughput.value;
  double wanted = static_cast<double>(plan.segment.value);
  if (hops > 0) {
    wanted = std::sqrt(static_cast<double>(message.value) * costs.overhead.value * rate / hops);
  }
  if (costs.eager) {
    const auto eager = static_cast<double>(costs.eager->value);
    if (costs.overhead.value * rate < kEagerMayCost * eager) wanted = std::min(wanted, eager);
  }
  wanted = std::max({wanted, kLeastSegment, most_bytes_in_flight(plan) / double{kMostInFlight}});
  // Compared as doubles: a larger value may not fit into the segment's type.
  if (wanted >= static_cast<double>(plan.segment.value)) return plan.segment.value;
  return static_cast<std::uint64_t>(wanted);
}

bool are_always_eager(const Plan& plan, const SegmentCosts& costs) {
  constexpr Bytes kEndless{std::numeric_limits<std::uint64_t>::max()};
  return costs.eager && !costs.asks({fitted_segment(plan, kEndless, costs)});
}

Seconds pipelined_time(const Plan& plan, Bytes message, Bytes segment, Seconds overhead) {
  if (plan.nodes.size() < 2) return {};
  const auto bytes = static_cast<double>(message.value);
  const double longest = std::min(static_cast<double>(segment.value), bytes);
  const double segments = std::ceil(bytes / static_cast<double>(segment.value));
  return {(bytes + longest * hops_of(plan)) / plan.throughput.value + segments * overhead.value +
          latency_of(plan)};
}

}  // namespace espalier::planner
