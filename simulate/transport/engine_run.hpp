// A run of the executor's engines, one for each host, in virtual time: every operation, by the
// rules in engine/ and the network of simulate/model.
#pragma once

#include "simulate/transport/event_loop.hpp"
#include "simulate/transport/simulated_rank.hpp"

namespace espalier::simulate {

// task: of the same message as the call; its trees are those of call.flows. resources: rows of A.
// Throws InputError when the time exceeds the range of a double, std::logic_error if the hosts wait
// for one another, which the engine excludes.
GreedyRun run_engines(const Call& call, const Task& task, const Windows& windows,
                      std::size_t resources, const OnSend& on_send);

}  // namespace espalier::simulate
