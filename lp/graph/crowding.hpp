// How far sends over long links fall behind where nearer ones share a port or link with them: TCP
// and SimGrid divide what is shared in proportion to 1 / latency, so that a send over 5 ms gets
// next to nothing while one over 50 us is in progress
// (docs/decisions/0028-nearer-sends-crowd-out-long-ones.md).
#pragma once

#include <span>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// Of another's latency: what has less than this is served before it.
inline constexpr double kMuchNearer = 0.2;

// From here on others are tried. Most plans are below it without that.
inline constexpr double kTolerableCrowding = 1.2;

// For each edge of the trees and each resource it uses, the fractions of time: what it and farther
// edges with the same slowest resource take of that one, and what much nearer edges take of the
// resource they share. Returns the largest sum; above 1, the edge may carry its rate divided by
// this. 0 without latencies. latency_s: per arc, seconds, as Digraph::latency_s. occupation:
// resources x arcs, seconds per byte.
double crowding_of(std::span<const double> latency_s, const SparseMatrix& occupation,
                   std::span<const PackedTree> trees);

}  // namespace espalier::lp
