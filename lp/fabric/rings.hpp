// Rings over the hosts of a fabric, for collectives in which every host has a part for all others:
// the hosts in the order of a walk over the switches, and paths that make way for one another. Of
// equal hosts a ring is optimal, if the links carry it, because every host receives all the time.
#pragma once

#include <cstdint>
#include <vector>

#include "lp/graph/routed_tree.hpp"
#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

struct HostRing {
  std::vector<std::uint32_t> hosts;  // each sends to the next, the last to the first
  RoutedTree ways;                   // edge i: the path from the host at place i to the next
};

struct HostRings {
  std::vector<HostRing> rings;
  bool fill_hosts = false;  // all at the same rate, they carry what the slowest host does
};

// A few rings that carry the most together, at equal rates. One where the links carry it all;
// several divide thin links more evenly. None: the network is none of hosts with one link each, to
// a switch (fabric_tree.hpp), or the deadline has passed.
HostRings fabric_rings(const PackingProblem& problem, const Deadline& deadline);

}  // namespace espalier::lp
