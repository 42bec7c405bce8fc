#include "planner/schedule/list_schedule.hpp"

#include <algorithm>
#include <limits>

namespace espalier::planner {

double path_latency(const Instance& instance, std::span<const std::uint32_t> path) {
  if (instance.options().latency_occupies) return 0;
  return platforms::latency_along(instance.platform(), path).value;
}

ListSchedule::ListSchedule(const Instance& instance, Bytes message)
    : message_bytes_(static_cast<double>(message.value)),
      has_message_(instance.platform().nodes().size(), std::numeric_limits<double>::infinity()),
      free_(instance.resource_count(), 0.0) {
  has_message_[index_of(instance.source())] = 0;
}

ListSchedule::Send ListSchedule::earliest(std::uint32_t sender,
                                          std::span<const lp::HostArcs::Use> uses,
                                          double latency) const {
  double start = has_message_[sender];
  double longest = 0;
  for (const lp::HostArcs::Use& use : uses) {
    start = std::max(start, free_[use.resource]);
    longest = std::max(longest, use.seconds_per_byte);
  }
  return {start, start + longest * message_bytes_ + latency};
}

ListSchedule::Send ListSchedule::add(std::uint32_t sender, std::uint32_t receiver,
                                     std::span<const lp::HostArcs::Use> uses, double latency) {
  const Send send = earliest(sender, uses, latency);
  for (const lp::HostArcs::Use& use : uses) {
    free_[use.resource] = send.start + use.seconds_per_byte * message_bytes_;
  }
  has_message_[receiver] = send.completion;
  return send;
}

}  // namespace espalier::planner
