// Schedules sends of a whole message, one by one, on resources that each serve one send at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "planner/problem/instance.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// The sum of a path's latencies; 0 where latencies occupy, because the occupation matrix then
// contains them.
double path_latency(const Instance& instance, std::span<const std::uint32_t> path);

// Records when resources are free and when hosts have the message. Times are seconds from the
// start.
class ListSchedule {
 public:
  // Only the instance's source has the message at time 0.
  ListSchedule(const Instance& instance, Bytes message);

  struct Send {
    double start;
    double completion;  // when the receiver has the message
  };
  // The earliest send from a host that has the message, on a path with these uses and this latency.
  // Adding other sends never makes it earlier.
  [[nodiscard]] Send earliest(std::uint32_t sender, std::span<const lp::HostArcs::Use> uses,
                              double latency) const;
  // Adds that send: its resources are busy until it ends, and the receiver then has the message.
  Send add(std::uint32_t sender, std::uint32_t receiver, std::span<const lp::HostArcs::Use> uses,
           double latency);

  [[nodiscard]] double message_bytes() const { return message_bytes_; }

 private:
  double message_bytes_;
  std::vector<double> has_message_;  // per node, from this time on
  std::vector<double> free_;         // per resource, from this time on
};

}  // namespace espalier::planner
