#include "planner/plan/segment_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "planner/plan/send_windows.hpp"

namespace espalier::planner {

namespace {

constexpr double kLeastSegment =
    8192;                              // below, the overhead per segment dominates on every network
constexpr double kEagerMayCost = 0.1;  // as a share of the time

// The largest sum over a block and those that it comes after. cost_of: of a block.
template <class Cost>
double longest_sequence(const std::vector<PlanTrees>& blocks, const Cost& cost_of) {
  std::vector<double> costs;
  for (const PlanTrees& block : blocks) {
    costs.push_back(cost_of(block) + (block.after ? costs[*block.after] : 0));
  }
  return costs.empty() ? 0 : std::ranges::max(costs);
}

// Hops after the first, summed over a block's trees. Where each host is the root of a block, all
// links are busy from the beginning, and a segment of any block crosses a link at the link's rate:
// the block's share does not matter.
double hops_of(const std::vector<PlanTrees>& blocks) {
  return longest_sequence(blocks, [](const PlanTrees& block) {
    double hops = 0;
    for (const PlanTree& tree : *block.trees) {
      hops += static_cast<double>(std::max<std::size_t>(depth_of(tree, block.root), 1) - 1);
    }
    return hops;
  });
}

// Of blocks that come after others, all trees: a segment is copied when all of it is combined, and
// meanwhile links carry one segment of every tree.
double turn_of(const std::vector<PlanTrees>& blocks) {
  double trees = 0;
  for (const PlanTrees& block : blocks) {
    if (block.after) trees += static_cast<double>(block.trees->size());
  }
  return trees;
}

// High-latency trees end earlier (planner/plan/segment_assignment.hpp), so the latencies are
// averaged, weighted by what the trees carry. Where a block comes after another one, the largest
// of both add up.
double latency_of(const Plan& plan, const std::vector<PlanTrees>& blocks) {
  const bool in_sequence = has_sequence(blocks);
  return longest_sequence(blocks, [&](const PlanTrees& block) {
    double longest = 0;
    double mean = 0;
    for (const PlanTree& tree : *block.trees) {
      const double latency_s = latency_of(tree, block.root).value;
      longest = std::max(longest, latency_s);
      mean += tree.rate.value / (block.share * plan.throughput.value) * latency_s;
    }
    return in_sequence ? longest : mean;
  });
}

}  // namespace

Pipeline::Pipeline(const Plan& plan) : Pipeline(plan, blocks_of(plan)) {}

Pipeline::Pipeline(const Plan& plan, const std::vector<PlanTrees>& blocks)
    : nodes_(plan.nodes.size()),
      segment_(plan.segment),
      throughput_(plan.throughput),
      hops_(hops_of(blocks)),
      turn_(turn_of(blocks)),
      latency_s_(latency_of(plan, blocks)),
      most_in_flight_(most_bytes_in_flight(plan)) {}

std::uint64_t Pipeline::fitted_segment(Bytes message, const SegmentCosts& costs) const {
  const double rate = throughput_.value;
  double wanted = static_cast<double>(segment_.value);
  if (const double fills = hops_ + turn_; fills > 0) {
    wanted = std::sqrt(static_cast<double>(message.value) * costs.overhead.value * rate / fills);
  }
  if (costs.eager) {
    const auto eager = static_cast<double>(costs.eager->value);
    if (costs.overhead.value * rate < kEagerMayCost * eager) wanted = std::min(wanted, eager);
  }
  const double least = most_in_flight_ / double{kMostInFlight};
  wanted = std::max({wanted, kLeastSegment, least});
  // A segment for which the sender asks is in flight for a round trip (segments_in_flight).
  if (costs.eager && wanted > static_cast<double>(costs.eager->value)) {
    wanted = std::max(wanted, 2 * least);
  }
  // Compared as doubles: a larger value may not fit into the segment's type.
  if (wanted >= static_cast<double>(segment_.value)) return segment_.value;
  return static_cast<std::uint64_t>(wanted);
}

bool Pipeline::are_always_eager(const SegmentCosts& costs) const {
  constexpr Bytes kEndless{std::numeric_limits<std::uint64_t>::max()};
  return costs.eager && !costs.asks({fitted_segment(kEndless, costs)});
}

Seconds Pipeline::time(Bytes message, Bytes segment, Seconds overhead) const {
  if (nodes_ < 2) return {};
  const auto bytes = static_cast<double>(message.value);
  const double longest = std::min(static_cast<double>(segment.value), bytes);
  const double segments = std::ceil(bytes / static_cast<double>(segment.value));
  const double turn = std::min(turn_ * longest, bytes);
  return {(bytes + longest * hops_ + turn) / throughput_.value + segments * overhead.value +
          latency_s_};
}

}  // namespace espalier::planner
