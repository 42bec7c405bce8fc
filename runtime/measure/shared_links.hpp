// Which arcs share a link.
//
// The arcs from one cluster of ranks (runtime/measure/clusters.hpp) to another are a class:
// whatever they share, they share with all of their class. So classes are tested instead of arcs:
// several disjoint flows of one class at once, then of two classes. Flows that together carry less
// than their arcs do one by one share a link, and what they carry together is its bandwidth.
// Classes of which each two share are one link.
//
// Where more than 24 classes are suspected, of six clusters and more, two at once would be too many
// tests. Then flows from one cluster to as many others as it has ranks run at once, and so into it:
// a rack's cable up, and its cable down. Links of other sets of classes are not found then, and of
// more than 128 classes only so many are tested for a link of their own.
//
// A link between clusters of which one is a single rank cannot be told from that rank's port.
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

// The transfers that decide, in order; none where no arc was disturbed in its round.
std::vector<std::vector<Flow>> shared_link_tests(const ArcRates& rates);

// Concluded from the experiments of kSharedLinks among the measurements.
std::vector<SharedLink> shared_links(const Measurements& measurements, const ArcRates& rates);

// What flows can carry together, as far as arcs and links go, bytes/s. An arc of several links
// counts with the first.
double carried_together_bps(const std::vector<Flow>& flows, const ArcRates& rates,
                            const std::vector<SharedLink>& shared_links);

}  // namespace espalier::runtime::probe
