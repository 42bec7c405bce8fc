// Sends of a whole message, one after the other, on resources that each serve one at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "planner/problem/instance.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// The sum of a way's latencies: none where they occupy, for then the occupation matrix has them.
double way_latency(const Instance& instance, std::span<const std::uint32_t> path);

// When resources are free and hosts have the message. Times are seconds from the start.
class ListSchedule {
 public:
  // The instance's source has the message at time 0, nobody else.
  ListSchedule(const Instance& instance, Bytes message);

  struct Send {
    double start;
    double completion;  // when the receiver has the message
  };
  // The earliest send from a host that has the message, on a way with these uses and this latency.
  // It never gets earlier when other sends are added.
  [[nodiscard]] Send earliest(std::uint32_t sender, std::span<const lp::HostArcs::Use> uses,
                              double latency) const;
  // Adds that send: its resources are busy, and the receiver has the message.
  Send add(std::uint32_t sender, std::uint32_t receiver, std::span<const lp::HostArcs::Use> uses,
           double latency);

  [[nodiscard]] double message_bytes() const { return message_bytes_; }

 private:
  double message_bytes_;
  std::vector<double> has_message_;  // per node, since when
  std::vector<double> free_;         // per resource, from when on
};

}  // namespace espalier::planner
