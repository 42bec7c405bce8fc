// The greedy run: every host sends what it can as soon as it can (simulate/simulate.hpp says how).
#pragma once

#include <cstdint>
#include <vector>

#include "planner/slice_dealer.hpp"
#include "simulate/simulate.hpp"
#include "simulate/task.hpp"

namespace espalier::simulate {

struct GreedyRun {
  std::vector<double> done_s;  // of each host
  double tick_s;
  std::uint64_t most_events;
};

// resources: rows of A. Throws InputError when the time is beyond a double.
GreedyRun run_greedily(const Task& task, const planner::SliceDealer& dealer, std::uint64_t window,
                       std::size_t resources, const OnSend& on_send);

}  // namespace espalier::simulate
