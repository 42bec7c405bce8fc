// Which simultaneous flows show the caps of ranks, and the contention model: each rank to several
// others (a fan), several others to it, and both directions at the same time.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/clusters.hpp"
#include "runtime/measure/steps/step.hpp"

namespace espalier::runtime::probe {

// Fans and both directions, one rank at a time: of its fastest arcs and its slowest.
std::vector<Step> port_steps(const ArcRates& rates);

// The same of many ranks, for as many as do not disturb one another: fans within clusters of four
// or more ranks, of as many disjoint ones as there are in all such clusters; and both directions,
// in a circle through some ranks of some of them.
std::vector<Step> port_steps_within(const ArcRates& rates, const Clusters& clusters);
// Their number if all ranks are of one cluster, of four or more.
std::size_t count_port_steps(std::size_t ranks);
// After these, which show what ranks can send and receive in total: arcs within clusters, each with
// ranks of its own, from ranks that have not been measured with one that receives as much as they
// send, and to ranks likewise. Without experiments if there is none.
Step arcs_of_full_rate(const ArcRates& rates, const Clusters& clusters);
// If there are several clusters: as for few ranks, for some ranks of each cluster that had fans
// within, and for all others.
std::vector<Step> port_steps_between(const ArcRates& rates, const Clusters& clusters);

}  // namespace espalier::runtime::probe
