// Finds arcs that share a link, by sending along them at the same time (docs/engine.md).
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/measurements.hpp"
#include "runtime/measure/steps/step.hpp"

namespace espalier::runtime::probe {

struct SharedLink {
  std::vector<Flow> arcs;  // ascending
  double bandwidth_Bps = 0;
};

// The tests for shared links, in order; none if no arc was disturbed in its round.
std::vector<Step> shared_link_tests(const ArcRates& rates);

// Derived from the kSharedLinks experiments among the measurements.
std::vector<SharedLink> shared_links(const Measurements& measurements, const ArcRates& rates);

// The highest total rate of the flows that arcs and shared links allow, bytes/s. An arc of several
// shared links counts only for the first.
double carried_together_bps(const std::vector<Flow>& flows, const ArcRates& rates,
                            const std::vector<SharedLink>& shared_links);

}  // namespace espalier::runtime::probe
