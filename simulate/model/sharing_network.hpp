// The ports, links and shared links of a greedy run whose sends share them (Sharing::kEdges and
// kSends) instead of taking turns (simulate/model/network.hpp), at rates that are max-min fair by
// progressive filling (Bertsekas and Gallager, "Data networks", section 6.5.2). When a send begins
// or ends, rates are recomputed for the n sends that share with it, directly or through others, in
// O(n log n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "simulate/model/agenda.hpp"
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
  // Begins all sends that may begin, and updates the rates.
  void begin_sends();

 private:
  static constexpr double kNearlyDone = 1e-9;  // of a segment

  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  // A resource that a flow uses, and its time for a whole segment.
  struct Need {
    std::uint32_t resource;
    double seconds;
  };
  // A send in progress. Service is counted in whole segments per send of the lane.
  struct Send {
    double end;  // the lane's `served` at which the send has passed
    double start_s;
  };
  // A flow. Its segments end in order.
  struct Lane {
    std::uint64_t allowed = 0;
    std::uint64_t begun = 0;
    Range needs;
    double weight = 1;  // of each of its sends
    // The last segment as a fraction of a whole one, if it is shorter. Because of overheads this
    // may differ between resources; the largest fraction is taken.
    double last_work = 0;
    std::uint32_t tree = 0;
    std::uint32_t version = 0;  // of its event
    double rate = 0;            // segments per second, of each of its sends
    double served = 0;          // until `served_at`
    Ticks served_at = 0;
    Ticks ends_at = -1;  // the time of its event; -1: none
    std::deque<Send> sends;
  };
  struct Level {
    double level;
    std::uint32_t resource;
    bool operator>(const Level& other) const { return level > other.level; }
  };
  // A resource while rates are computed.
  struct Share {
    double left = 1;          // fraction of its time that is not assigned
    double demand = 0;        // of its time, per unit of level, by lanes whose rates are not fixed
    std::uint32_t lanes = 0;  // whose rates are not fixed
  };

  void add_lane(std::uint32_t flow);
  void set_weights();
  void begin(std::uint32_t flow);
  // The tolerance lets equal sends end at the same time although their sums round differently.
  [[nodiscard]] static bool is_through(const Lane& lane, const Send& send) {
    return send.end <= lane.served + kNearlyDone;
  }
  // The lane's `served` at the end of its next send.
  [[nodiscard]] static double next_end(const Lane& lane);
  // How many sends of the lane are served at once; at least one.
  [[nodiscard]] double served_at_once(const Lane& lane) const;
  void catch_up(Lane& lane);
  void gather_affected();
  void gather_resources_of(const Lane& lane);
  void compute_rates();
  void fix_rate(std::uint32_t flow, double level);
  void schedule(std::uint32_t flow);
  void report(std::uint32_t flow, std::uint64_t nth, const Send& send);

  const Task& task_;
  Sharing sharing_;
  Agenda& agenda_;
  const OnSend& on_send_;
  std::vector<Lane> lanes_;  // one per flow
  std::vector<Need> needs_;
  std::vector<std::vector<std::uint32_t>> users_;  // per resource: lanes with sends in progress
  std::vector<Share> shares_;                      // per resource
  std::vector<std::uint32_t> woken_;    // at this time: lanes that may have a send to begin
  std::vector<std::uint32_t> changed_;  // at this time: lanes whose number of sends has changed
  // Affected by the changed lanes:
  std::vector<std::uint32_t> resources_;
  std::vector<std::uint32_t> affected_;  // lanes
  std::vector<char> is_gathered_;        // per resource
  std::vector<char> is_open_;            // per lane: affected, and its rate is not fixed
  std::vector<Holding> reported_;
  std::uint64_t ended_ = 0;  // sends
};

}  // namespace espalier::simulate
