// A platform as simulators of the LogGP family see one: all pairs of ranks alike.
#pragma once

#include <optional>

#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// The parameters of LogGP (Alexandrov et al., JPDC 44 (1997), doi:10.1006/jpdc.1997.1346).
struct LogGPView {
  Seconds latency;   // L
  Seconds overhead;  // o
  Seconds gap;       // g
  double gap_per_byte_s = 0;

  bool operator==(const LogGPView&) const = default;
};

// Of an edge's path: G is the time of a byte on its slowest link, g that link's overhead and G, o
// the overhead of its first link where that is not the slowest one, and otherwise 0; L is what
// remains of the latencies and g after two o, so that a segment arrives when `simulate` says. It is
// the inverse of `generate loggp`. Unset: the edges of the plan differ by over 1e-9, or no L is
// left. Throws InputError for an edge that is not a path of the platform. Precondition: no
// structural fault, and the plan has the platform's hosts.
std::optional<LogGPView> loggp_of(const planner::Plan& plan, const platforms::Platform& platform);

}  // namespace espalier::simulate
