// A run of the executor's engines, one for each host, in virtual time: every operation, by the
// rules in engine/ and the network of simulate/model.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/simulate.hpp"
#include "simulate/transport/simulated_rank.hpp"
#include "simulate/transport/task.hpp"

namespace espalier::simulate {

struct EngineTimes {
  std::vector<double> done_s;  // per host, as in Simulation; empty: the run was stopped
  double tick_s;
  std::uint64_t most_events;
};

// task: of the same message as the call; its trees are those of call.flows. resources: rows of A.
// Throws InputError when the time exceeds the range of a double, std::logic_error if the hosts wait
// for one another, which the engine excludes.
EngineTimes run_engines(const Call& call, const Task& task, const Windows& windows,
                        std::size_t resources, const OnSend& on_send);

}  // namespace espalier::simulate
