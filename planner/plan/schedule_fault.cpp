#include "planner/plan/schedule_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/quantities.hpp"

namespace espalier::planner {

namespace {

constexpr double kTolerance = 1e-6;

bool differ(double one, double other) {
  return !(std::abs(one - other) <= kTolerance * other);
}

bool finite_and_positive(double value) {
  return std::isfinite(value) && value > 0;
}

std::optional<PlanFault> fault_of_figures(const Plan& plan, const PlanSchedule& schedule) {
  if (!finite_and_positive(schedule.period.value)) {
    return PlanFault{"/schedule/period_s",
                     fmt::format("a period is finite and positive, not {}", schedule.period.value)};
  }
  if (schedule.segments.size() != plan.broadcast_trees.size()) {
    return PlanFault{"/schedule/slices",
                     fmt::format("{} counts for {} trees", schedule.segments.size(),
                                 plan.broadcast_trees.size())};
  }
  double bytes = 0;
  for (const std::uint64_t count : schedule.segments) {
    bytes += static_cast<double>(count) * static_cast<double>(plan.segment.value);
  }
  if (bytes == 0) return PlanFault{"/schedule/slices", "a period carries at least one segment"};
  const double throughput = bytes / schedule.period.value;
  if (!finite_and_positive(schedule.throughput.value) ||
      differ(schedule.throughput.value, throughput)) {
    return PlanFault{"/schedule/throughput_Bps",
                     fmt::format("the segments of a period carry {}, not {}", throughput,
                                 schedule.throughput.value)};
  }
  return {};
}

// The parent of every node in every tree, to check the sends against.
std::vector<std::vector<std::uint32_t>> parents(const Plan& plan) {
  std::vector<std::vector<std::uint32_t>> parent_of;
  for (const PlanTree& tree : plan.broadcast_trees) {
    parent_of.emplace_back(plan.nodes.size(), UINT32_MAX);
    for (const PlanEdge edge : tree.edges) parent_of.back()[edge.child] = edge.parent;
  }
  return parent_of;
}

std::optional<std::string> fault_of_send(const Plan& plan, const ScheduledSend& send,
                                         const std::vector<std::vector<std::uint32_t>>& parent_of) {
  if (send.tree >= parent_of.size()) return fmt::format("there is no tree {}", send.tree);
  if (send.parent >= plan.nodes.size() || send.child >= plan.nodes.size() ||
      parent_of[send.tree][send.child] != send.parent) {
    return fmt::format("tree {} has no edge {} -> {}", send.tree, send.parent, send.child);
  }
  if (!(std::isfinite(send.start.value) && send.start.value >= 0)) {
    return fmt::format("a send starts at 0 or later, not at {}", send.start.value);
  }
  if (!finite_and_positive(send.time.value)) {
    return fmt::format("a send's time is finite and positive, not {}", send.time.value);
  }
  if (!finite_and_positive(send.bytes)) {
    return fmt::format("a send's bytes are finite and positive, not {}", send.bytes);
  }
  constexpr double kRounding = 1e-12;
  const double end = send.start.value + send.time.value;
  const double period = plan.schedule->period.value;
  if (end > period * (1 + kRounding)) {
    return fmt::format("it ends at {} s, after the period of {} s", end, period);
  }
  return {};
}

// Every edge of a tree must carry exactly the tree's segments.
std::optional<PlanFault> fault_of_amounts(const Plan& plan, const PlanSchedule& schedule) {
  std::vector<std::vector<double>> carried(plan.broadcast_trees.size());
  for (auto& tree : carried) tree.assign(plan.nodes.size(), 0.0);
  for (const ScheduledSend& send : schedule.sends) carried[send.tree][send.child] += send.bytes;
  for (std::size_t k = 0; k < carried.size(); ++k) {
    const double wanted =
        static_cast<double>(schedule.segments[k]) * static_cast<double>(plan.segment.value);
    for (const PlanEdge edge : plan.broadcast_trees[k].edges) {
      if (!differ(carried[k][edge.child], wanted)) continue;
      return PlanFault{
          "/schedule/sends",
          fmt::format("edge {} -> {} of tree {} carries {} bytes per period, but its {} {} {}",
                      edge.parent, edge.child, k, carried[k][edge.child],
                      counted(schedule.segments[k], "segment"),
                      schedule.segments[k] == 1 ? "has" : "have", wanted)};
    }
  }
  return {};
}

}  // namespace

std::optional<PlanFault> schedule_fault(const Plan& plan) {
  if (!plan.schedule) return {};
  const PlanSchedule& schedule = *plan.schedule;
  if (auto fault = fault_of_figures(plan, schedule)) return fault;
  const auto parent_of = parents(plan);
  for (std::size_t i = 0; i < schedule.sends.size(); ++i) {
    auto reason = fault_of_send(plan, schedule.sends[i], parent_of);
    if (!reason && i > 0 && schedule.sends[i].start < schedule.sends[i - 1].start) {
      reason = fmt::format("it starts at {} s, before the send that is listed before it",
                           schedule.sends[i].start.value);
    }
    if (reason) return PlanFault{fmt::format("/schedule/sends/{}", i), *reason};
  }
  return fault_of_amounts(plan, schedule);
}

std::size_t step_count(const PlanSchedule& schedule) {
  constexpr double kRounding = 1e-12;
  std::vector<double> moments{0, schedule.period.value};
  for (const ScheduledSend& send : schedule.sends) {
    moments.push_back(send.start.value);
    moments.push_back(send.start.value + send.time.value);
  }
  std::sort(moments.begin(), moments.end());
  std::size_t steps = 0;
  for (std::size_t i = 0; i + 1 < moments.size(); ++i) {
    if (moments[i + 1] - moments[i] > kRounding * schedule.period.value) ++steps;
  }
  return steps;
}

}  // namespace espalier::planner
