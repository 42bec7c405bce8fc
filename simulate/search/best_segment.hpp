// In which segments a plan, as it is, has a message everywhere first, by simulation. Which plan a
// message should have as well: simulate/search/choose_plan.hpp.
#pragma once

#include <cstdint>

#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

struct BestSegmentOptions {
  Bytes least_segment{1024};  // no smaller one is tried, at least 1 byte
  // A message of more sends is told from a shorter one, for what is added once the pipelines are
  // full goes at a steady pace.
  std::uint64_t most_sends = 80'000;
};

struct BestSegment {
  Bytes segment;     // at most the message
  Seconds makespan;  // of the message in such segments
};

// Tries numbers of equal segments a factor apart, up to where more only cost, then ever closer
// about the best. platform: with the overheads that count (simulate/model/overhead.hpp); without
// any, short segments win. A schedule is not followed, for it is of one size of segments; a
// reduction combines at once. message: at least 1 byte, else std::invalid_argument. Throws
// InputError as Simulator does.
BestSegment best_segment(const planner::Plan& plan, const platforms::Platform& platform,
                         Bytes message, const BestSegmentOptions& options = {});

}  // namespace espalier::simulate
