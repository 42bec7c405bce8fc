// The segment size with which a given plan has the least makespan for a message, by simulation. For
// choosing the plan as well, see simulate/search/choose_plan.hpp.
#pragma once

#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

struct BestSegment {
  Bytes segment;     // at most the message
  Seconds makespan;  // of the message in such segments
};

// platform: with overheads (simulate/model/overhead.hpp); without any, the smallest segments win.
// Schedules are not followed, as they fix the segment size; combining takes no time. message and
// least_segment: at least 1 byte, otherwise throws std::invalid_argument. Throws InputError as
// Simulator does, and for a plan with several roots or with parts.
BestSegment best_segment(const planner::Plan& plan, const platforms::Platform& platform,
                         Bytes message, Bytes least_segment = {1024});

}  // namespace espalier::simulate
