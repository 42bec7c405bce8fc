// Finds arcs that share a link.
//
// The arcs from one cluster of ranks (runtime/measure/clusters.hpp) to another form a class; a
// shared link is shared by the whole class. So classes are tested instead of arcs: several disjoint
// flows of one class simultaneously, then of two classes. Flows whose total rate is less than the
// sum of their arcs' rates share a link, and the total rate is its bandwidth. Classes that share
// pairwise form one link.
//
// If more than 24 classes are suspected (six clusters or more), tests of all pairs would be too
// many. Then fans are tested instead: simultaneous flows from one cluster to as many others as it
// has ranks, and likewise into it. They find a rack's uplink and its downlink. Links of other sets
// of classes are then not found, and at most 128 classes are tested for a link of their own.
//
// A link to or from a cluster of a single rank cannot be distinguished from that rank's port.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/measurements.hpp"

namespace espalier::runtime::probe {

struct SharedLink {
  std::vector<Flow> arcs;  // ascending
  double bandwidth_Bps = 0;
};

// The transfers that test for shared links, in order; none if no arc was disturbed in its round.
std::vector<std::vector<Flow>> shared_link_tests(const ArcRates& rates);

// Derived from the kSharedLinks experiments among the measurements.
std::vector<SharedLink> shared_links(const Measurements& measurements, const ArcRates& rates);

// The highest total rate of the flows that arcs and shared links allow, bytes/s. An arc of several
// shared links counts only for the first.
double carried_together_bps(const std::vector<Flow>& flows, const ArcRates& rates,
                            const std::vector<SharedLink>& shared_links);

}  // namespace espalier::runtime::probe
