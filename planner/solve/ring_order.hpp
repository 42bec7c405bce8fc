// One ring of all hosts, along which every byte of an allgather, a reduce-scatter or an allreduce
// is passed on, as NCCL and Prime PCCL do: the order of the hosts that a local search finds best.
// An asymmetric travelling salesman whose cost is the load of the busiest resource, not the sum of
// the arcs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "platforms/core/platform.hpp"
#include "support/deadline.hpp"

namespace espalier::planner {

// The hosts, as nodes, in the order in which they send to one another, from hosts.front() on; the
// last sends to it. hosts: nodes of `arcs`, at least one. reversed: `arcs` are those of the
// reversed platform; the order is that of the platform itself. Where two neighbours in the order
// have no arc, none that was tried has fewer such pairs. Starts from the nearest neighbour (from
// each host in turn, where there are few), then moves stretches of up to three hosts (Or, 1976),
// O(n) of them a round. Returns the order so far when the deadline passes.
std::vector<std::uint32_t> ring_order(const lp::HostArcs& arcs,
                                      std::span<const platforms::NodeId> hosts, bool reversed,
                                      const Deadline& deadline);

}  // namespace espalier::planner
