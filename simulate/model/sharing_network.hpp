// The ports, links and shared links of a greedy run whose sends share them (Sharing::kEdges and
// kSends) instead of taking turns (simulate/model/network.hpp), at max-min fair rates
// (simulate/model/fair_shares.hpp), which are recomputed when a send begins or ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "simulate/model/agenda.hpp"
#include "simulate/model/end_times.hpp"
#include "simulate/model/fair_shares.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/task.hpp"

namespace espalier::simulate {

class SharingNetwork {
 public:
  static constexpr std::uint32_t kNoFlow = UINT32_MAX;

  // As Network's, whose sends take turns by the assignments. sharing: not kTurns.
  SharingNetwork(const Task& task, const Assignments& assignments, Sharing sharing,
                 std::size_t resources, Agenda& agenda, const OnSend& on_send);

  // Allows the first `segments` segments of the flow to begin. Those in progress are unaffected.
  void allow(std::uint32_t flow, std::uint64_t segments) {
    lanes_[flow].allowed = segments;
    woken_.push_back(flow);
  }
  // Returns the flow whose segment the event completes, or kNoFlow if the event is out of date.
  std::uint32_t release(const Event& event);
  void prefetch(const Event& /*event*/) const {}
  [[nodiscard]] static std::uint32_t flow_of(const Event& event) { return event.index; }
  // Begins all sends that may begin, and updates the rates.
  void begin_sends();

 private:
  static constexpr double kNearlyDone = 1e-9;  // of a segment

  // A send in progress. Service is counted in whole segments per send of the lane.
  struct Send {
    double end;  // the lane's `served` at which the send has passed
    double start_s;
  };
  // A flow. Its segments end in order.
  struct Lane {
    std::uint64_t allowed = 0;
    std::uint64_t begun = 0;
    // The last segment as a fraction of a whole one, if it is shorter. Because of overheads this
    // may differ between resources; the largest fraction is taken.
    double last_work = 0;
    std::uint32_t tree = 0;
    double rate = 0;    // segments per second, of each of its sends
    double served = 0;  // until `served_at`
    Ticks served_at = 0;
    std::deque<Send> sends;
  };
  void add_lane(std::uint32_t flow);
  void begin(std::uint32_t flow);
  // Returns the flow whose first send in progress the next end completes, or kNoFlow.
  std::uint32_t end_next();
  // The tolerance lets equal sends end at the same time although their sums round differently.
  [[nodiscard]] static bool is_through(const Lane& lane, const Send& send) {
    return send.end <= lane.served + kNearlyDone;
  }
  // The lane's `served` at the end of its next send.
  [[nodiscard]] static double next_end(const Lane& lane);
  // How many sends of the lane are served at once; at least one.
  [[nodiscard]] double served_at_once(const Lane& lane) const;
  void catch_up(Lane& lane);
  void schedule(std::uint32_t flow);
  // Adds an event for the next end, unless there is one at that time.
  void announce();
  void report(std::uint32_t flow, std::uint64_t nth, const Send& send);

  const Task& task_;
  Sharing sharing_;
  Agenda& agenda_;
  const OnSend& on_send_;
  std::vector<Lane> lanes_;           // one per flow
  FairShares shares_;                 // a unit of service is a whole segment
  EndTimes ends_;                     // of the lanes' next sends
  Ticks announced_ = -1;              // time of the event that is not out of date; -1: none is
  std::uint32_t version_ = 0;         // of this event
  std::vector<std::uint32_t> woken_;  // at this time: lanes that may have a send to begin
  std::vector<Holding> reported_;
  std::uint64_t ended_ = 0;  // sends
};

}  // namespace espalier::simulate
