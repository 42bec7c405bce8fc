// Random periodic schedules for hand-made plans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "planner/plan/plan.hpp"

namespace espalier::testing {

// A period has 0 to 5 segments of each tree (of an allreduce: of each reduce tree, and as many in
// all of its broadcast trees), which the edges send in up to 4 pieces at random
// times. One-port hosts may not be able to keep it, and sends of one edge may overlap.
inline planner::PlanSchedule random_schedule(const planner::Plan& plan, std::mt19937_64& random) {
  planner::PlanSchedule schedule;
  const auto share = [&random] { return static_cast<double>(1 + random() % 1000) / 1001; };
  schedule.period.value = 0.1 + share();
  const std::vector<planner::DirectedTree> trees = planner::trees_in_order(plan);
  const std::size_t up = plan.reduce_trees.size();
  const std::size_t first_kind = up > 0 ? up : trees.size();
  std::uint64_t segments = 0;
  for (std::size_t k = 0; k < first_kind; ++k) {
    schedule.segments.push_back(random() % 6);
    segments += schedule.segments.back();
  }
  if (segments == 0) segments = schedule.segments[0] = 1;
  schedule.segments.resize(trees.size(), 0);
  for (std::uint64_t left = first_kind < trees.size() ? segments : 0; left > 0; --left) {
    ++schedule.segments[up + random() % (trees.size() - up)];
  }
  schedule.throughput.value = static_cast<double>(segments) *
                              static_cast<double>(plan.segment.value) / schedule.period.value;
  for (std::uint32_t k = 0; k < trees.size(); ++k) {
    if (schedule.segments[k] == 0) continue;
    const auto bytes =
        static_cast<double>(schedule.segments[k]) * static_cast<double>(plan.segment.value);
    for (const planner::PlanEdge edge : trees[k].tree->edges) {
      std::vector<double> parts(1 + random() % 4);
      double sum = 0;
      for (double& part : parts) sum += part = share();
      for (const double part : parts) {
        const double start = schedule.period.value * share();
        const double time = (schedule.period.value - start) * share();
        schedule.sends.push_back({k, edge.parent, edge.child, {start}, {time}, bytes * part / sum});
      }
    }
  }
  std::ranges::stable_sort(schedule.sends, {},
                           [](const planner::ScheduledSend& send) { return send.start.value; });
  return schedule;
}

}  // namespace espalier::testing
