// Which arcs share a wire.
//
// The arcs from one cluster of ranks (runtime/measure/clusters.hpp) to another are a class: whatever
// they share, they share with all of their class. So classes are tested instead of arcs: several
// disjoint flows of one class at once, then of two classes. Flows that together carry less than
// their arcs do one by one share a wire, and what they carry together is its bandwidth. Classes of
// which each two share are one wire.
//
// Where more than 24 classes are suspected, of six clusters and more, two at once would be too many
// tests. Then flows from one cluster to as many others as it has ranks run at once, and so into it:
// a rack's cable up, and its cable down. Wires of other sets of classes are not found then, and of
// more than 128 classes only so many are tested for a wire of their own.
//
// A wire between clusters of which one is a single rank cannot be told from that rank's port.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/measurements.hpp"

namespace espalier::runtime::probe {

struct Wire {
  std::vector<Flow> arcs;  // ascending
  double bandwidth_Bps = 0;
};

// The transfers that decide, in order; none where no arc was disturbed in its round.
std::vector<std::vector<Flow>> wire_tests(const ArcRates& rates);

// Concluded from the experiments of kWires among the measurements.
std::vector<Wire> shared_wires(const Measurements& measurements, const ArcRates& rates);

// What flows can carry together, as far as arcs and wires go, bytes/s. An arc of several wires
// counts with the first.
double carried_together_bps(const std::vector<Flow>& flows, const ArcRates& rates,
                            const std::vector<Wire>& wires);

}  // namespace espalier::runtime::probe
