#include "simulate/search/best_segment.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "simulate/search/segment_search.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

BestSegment best_segment(const planner::Plan& plan, const platforms::Platform& platform,
                         Bytes message, Bytes least_segment) {
  if (message.value == 0) throw std::invalid_argument("a message has at least one byte");
  if (least_segment.value == 0) throw std::invalid_argument("a segment has at least one byte");
  if (!plan.blocks.empty()) {
    throw InputError({}, "/operation",
                     fmt::format("the segments of {} with parts or several roots are not chosen by "
                                 "simulation yet",
                                 planner::with_article(plan.operation)));
  }
  static_cast<void>(Simulator(plan, platform, {.follow_schedule = false}));  // refuses what misfits
  const Deadline unlimited(std::nullopt);
  SegmentSearch search(platform, platforms::parse_model(plan.model), plan.latency_occupies, message,
                       {.least_segment = least_segment}, unlimited);
  search.add(Candidate(plan, platform));
  const Trial best = search.best_of({0});
  return {search.segment_of(best.segments), best.makespan};
}

}  // namespace espalier::simulate
