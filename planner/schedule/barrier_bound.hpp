// The least time of a barrier: every host must hear that every other one has arrived.
#pragma once

#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

struct BarrierBound {
  Seconds time;  // no barrier along any plan is faster
  // The hosts between which a message takes longest, and the sum of latencies on its fastest path.
  platforms::NodeId from;
  platforms::NodeId to;
  Seconds latency;
};

// Throws InfeasibleError where a host cannot be reached from another one, InputError for fewer than
// two hosts.
void require_barrier(const platforms::Platform& platform);

// The larger of two times (docs/model.md, "Barrier"): the largest latency between two hosts, after
// one overhead; and, under the one-port models, in which a host sends to one host at a time, an
// overhead for each doubling of the hosts that can have heard of an arrival. Overhead: the
// platform's least. n Dijkstras for n hosts. Throws as require_barrier.
BarrierBound barrier_bound(const platforms::Platform& platform, platforms::Model model);

}  // namespace espalier::planner
