// The segment size with which a given plan has the least makespan for a message, by simulation. For
// choosing the plan as well, see simulate/search/choose_plan.hpp.
#pragma once

#include <cstdint>

#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

struct BestSegmentOptions {
  Bytes least_segment{1024};  // the smallest one to try, at least 1 byte
  // The time of a message with more sends is extrapolated from a shorter one: once the pipelines
  // are full, each further segment takes the same time.
  std::uint64_t most_sends = 80'000;
};

struct BestSegment {
  Bytes segment;     // at most the message
  Seconds makespan;  // of the message in such segments
};

// Tries numbers of equal segments in a geometric sequence until more segments only take longer,
// then refines around the best. platform: with overheads (simulate/model/overhead.hpp); without
// any, the smallest segments win. Schedules are not followed, as they fix the segment size;
// combining takes no time. message: at least 1 byte, otherwise throws std::invalid_argument. Throws
// InputError as Simulator does.
BestSegment best_segment(const planner::Plan& plan, const platforms::Platform& platform,
                         Bytes message, const BestSegmentOptions& options = {});

}  // namespace espalier::simulate
