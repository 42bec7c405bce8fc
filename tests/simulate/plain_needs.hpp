// What each segment needs of the resources, for the plain simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::testing {

using Ticks = std::int64_t;

struct Need {
  std::size_t resource;
  Ticks time;
};
using Stretch = std::vector<Need>;

struct PlainTree {
  const planner::PlanTree* tree;
  bool up;
  std::size_t number;  // within its kind
};

struct PlainNeeds {
  std::vector<std::vector<std::vector<Stretch>>> paths;  // [tree][edge]
  std::vector<std::vector<Ticks>> latency;               // [tree][edge]
  std::vector<std::vector<double>> latency_s;            // the same before it is rounded
  std::size_t resources = 0;
};
// Of segments of so many bytes.
PlainNeeds plain_needs(const planner::Plan& plan, const platforms::Platform& platform,
                       const std::vector<PlainTree>& trees, std::uint64_t bytes, double tick_s);

}  // namespace espalier::testing
