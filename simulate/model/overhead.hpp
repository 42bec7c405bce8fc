// The fixed overhead of a segment, assumed on links for which the platform gives none.
#pragma once

#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// The default for the fixed overhead of a segment on a link without one, the same as in
// planner::SegmentCosts.
inline constexpr Seconds kAssumedOverhead{10e-6};

// Whether any link has an overhead above 0.
bool names_overhead(const platforms::Platform& platform);
// The overhead to assume on links without one: kAssumedOverhead, or 0 if other links have one.
Seconds overhead_for(const platforms::Platform& platform);
// `platform` with this overhead on every link whose overhead is 0. overhead: finite, at least 0; 0
// returns the same platform.
platforms::Platform with_overhead(const platforms::Platform& platform, Seconds overhead);

}  // namespace espalier::simulate
