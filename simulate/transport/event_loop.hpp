// The greedy run of a plan with one root: every host sends as soon as it can, by the rules of the
// engine, which this states a second time because it is several times as fast (decision 0020).
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/simulate.hpp"
#include "simulate/transport/assignments.hpp"
#include "simulate/transport/task.hpp"

namespace espalier::simulate {

struct GreedyRun {
  std::vector<double> done_s;  // per host, as in Simulation
  double tick_s;
  std::uint64_t most_events;
};

// As in Options.
struct Windows {
  std::uint64_t sends = planner::kSendsInFlight;
  std::uint64_t receives = planner::kReceivesInFlight;
  bool until_received = false;
  Sharing sharing = Sharing::kTurns;
  Bytes segment{1};  // a whole one; matters if sends last until received
  bool rounds = false;
};

// resources: rows of A. Throws InputError when the time exceeds the range of a double.
GreedyRun run_greedily(const Task& task, const Assignments& assignments, const Windows& windows,
                       std::size_t resources, const OnSend& on_send);

}  // namespace espalier::simulate
