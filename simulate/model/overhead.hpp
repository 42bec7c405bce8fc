// What a segment costs by itself, counted on links whose platform does not say.
#pragma once

#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// What a segment costs by itself on a link that names no overhead, unless said otherwise: as
// planner::SegmentCosts has it.
inline constexpr Seconds kAssumedOverhead{10e-6};

// Whether any link names an overhead.
bool names_overhead(const platforms::Platform& platform);
// What is counted on links that name none where nothing else is said: kAssumedOverhead, or 0 where
// others name one.
Seconds overhead_for(const platforms::Platform& platform);
// `platform` with this overhead on every link that names none (that has none). overhead: finite, at
// least 0; 0: the same.
platforms::Platform with_overhead(const platforms::Platform& platform, Seconds overhead);

}  // namespace espalier::simulate
