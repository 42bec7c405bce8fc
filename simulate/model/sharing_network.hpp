// Ports, links and shared links of a greedy run whose sends share them instead of taking turns: the
// alternative to simulate/model/network.hpp, for Sharing::kEdges and kSends (simulate/simulate.hpp
// says what they mean).
//
// Rates are max-min fair by progressive filling (Bertsekas and Gallager, "Data networks", section
// 6.5.2): all sends grow in proportion to their weights until a resource is full, which settles
// those that use it, and the others grow on. Whenever a send begins or ends, only what shares a
// resource with it, or with what does, is settled again. Work: O(n log n) for n of these.
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

  // Keeps references to all but the deal, which it has no use for: who shares needs no order.
  // sharing: not kTurns. resources: rows of A.
  SharingNetwork(const Task& task, Sharing sharing, std::size_t resources, Agenda& agenda,
                 const OnSend& on_send);

  // The first `segments` of the flow may begin; those that have begun stay so.
  void allow(std::uint32_t flow, std::uint64_t segments) {
    lanes_[flow].allowed = segments;
    roused_.push_back(flow);
  }
  // The flow whose segment is through by the event, or kNoFlow where the event is out of date.
  std::uint32_t release(const Event& event);
  // All that may begin does, and rates follow.
  void begin_sends();

 private:
  static constexpr double kNearlyDone = 1e-9;  // of a segment

  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  // What a whole segment needs of a resource.
  struct Need {
    std::uint32_t resource;
    double seconds;
  };
  // A send in progress. Work is counted in whole segments, as the lane serves each of its sends.
  struct Send {
    double end;  // it is through when the lane has served so much
    double start_s;
  };
  // A flow. Its segments end in their order.
  struct Lane {
    std::uint64_t allowed = 0;
    std::uint64_t begun = 0;
    Range needs;
    double weight = 1;  // of each of its sends
    // Of the last segment, where that is shorter. Overheads may leave it more of one resource than
    // of another: as of the one that it needs most of.
    double last_work = 0;
    std::uint32_t tree = 0;
    std::uint32_t version = 0;  // of its event
    double rate = 0;            // segments a second, of each of its sends
    double served = 0;          // until `served_at`
    Ticks served_at = 0;
    Ticks ends_at = -1;  // when its event is; -1: it has none
    std::deque<Send> sends;
  };
  struct Level {
    double level;
    std::uint32_t resource;
    bool operator>(const Level& other) const { return level > other.level; }
  };
  // A resource, while rates are settled.
  struct Share {
    double left = 1;    // of its time
    double demand = 0;  // of its time a unit of level, by lanes whose rates are not settled
    std::uint32_t lanes = 0;
  };

  void add_lane(std::uint32_t flow);
  void set_weights();
  void begin(std::uint32_t flow);
  // Equal sends end together, though their sums round differently.
  [[nodiscard]] static bool is_through(const Lane& lane, const Send& send) {
    return send.end <= lane.served + kNearlyDone;
  }
  // What the lane has served when the next of its sends is through.
  [[nodiscard]] static double next_end(const Lane& lane);
  // How many sends of the lane are served at once; at least one.
  [[nodiscard]] double served_at_once(const Lane& lane) const;
  void catch_up(Lane& lane);
  void gather_concerned();
  void gather_resources_of(const Lane& lane);
  void settle_rates();
  void settle(std::uint32_t flow, double level);
  void schedule(std::uint32_t flow);
  void tell(std::uint32_t flow, std::uint64_t nth, const Send& send);

  const Task& task_;
  Sharing sharing_;
  Agenda& agenda_;
  const OnSend& on_send_;
  std::vector<Lane> lanes_;  // one a flow
  std::vector<Need> needs_;
  std::vector<std::vector<std::uint32_t>> users_;  // of each resource: lanes with sends in progress
  std::vector<Share> shares_;                      // of each resource
  std::vector<std::uint32_t> roused_;              // now: lanes that may have something to begin
  std::vector<std::uint32_t> changed_;             // now: lanes with more or fewer sends
  // Of what is concerned by that:
  std::vector<std::uint32_t> resources_;
  std::vector<std::uint32_t> concerned_;  // lanes
  std::vector<char> is_gathered_;         // of each resource
  std::vector<char> is_open_;             // of each lane: concerned, and its rate not settled
  std::vector<Holding> told_;
};

}  // namespace espalier::simulate
