// The links of a platform while its hosts pull: between two hosts that a path connects, segments go
// one after the other, and all pairs share the network at max-min fair rates, as connections of TCP
// (simulate/model/fair_shares.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "engine/pull/pulled_message.hpp"
#include "planner/problem/instance.hpp"
#include "simulate/model/agenda.hpp"
#include "simulate/model/fair_shares.hpp"

namespace espalier::simulate {

class PullLinks {
 public:
  static constexpr std::uint32_t kNoLane = UINT32_MAX;
  static constexpr double kNever_s = std::numeric_limits<double>::infinity();

  // Between two hosts that have no link, segments take the fastest path through relays.
  PullLinks(const planner::Instance& instance, const engine::pull::PulledMessage& message);

  // Hosts are numbered by their places among all. kNoLane: there is no such path.
  [[nodiscard]] std::uint32_t lane(std::size_t from, std::size_t to) const {
    return lane_of_[from * hosts_ + to];
  }
  [[nodiscard]] double latency_s(std::uint32_t lane) const { return lanes_[lane].latency_s; }
  // The least time that a whole segment takes anywhere, without latency.
  [[nodiscard]] double shortest_s() const { return shortest_s_; }

  // Appends a segment to those that wait for this lane.
  void send(std::uint32_t lane, std::uint32_t segment, double now_s);
  // When a segment will have passed next, at the rates of now.
  [[nodiscard]] double next_s() const { return ends_.empty() ? kNever_s : ends_.top().at_s; }
  // A segment that has left the last link of its path; its latency is still to come.
  struct Passed {
    std::uint32_t lane = kNoLane;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t segment = 0;
    double begun_s = 0;
  };
  // The one of next_s(); lane kNoLane: none yet, because the rates have fallen since. Precondition:
  // next_s() is not kNever_s.
  Passed pass();
  // Computes the rates again, after what send() and pass() have changed.
  void update(double now_s);

  // What the lane occupies.
  [[nodiscard]] std::span<const Holding> needs(std::uint32_t lane) const {
    return shares_.needs(lane);
  }

 private:
  struct Waiting {
    std::uint32_t segment;
    double work;     // in whole segments
    double begun_s;  // when it became the first
  };
  struct Lane {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    double latency_s = 0;
    double rate = 0;            // whole segments per second
    double left = 0;            // of the first one's work, at served_s
    double served_s = 0;        //
    double event_s = kNever_s;  // of its valid entry in ends_
    std::deque<Waiting> queue{};
  };
  struct End {
    double at_s;
    std::uint32_t lane;
    bool operator>(const End& other) const {
      return at_s > other.at_s || (at_s == other.at_s && lane > other.lane);
    }
  };

  static void serve(Lane& lane, double now_s);
  void begin_first(Lane& lane, double now_s);
  void schedule(std::uint32_t index);

  engine::pull::PulledMessage message_;
  std::size_t hosts_;
  std::vector<std::uint32_t> lane_of_;
  std::vector<Lane> lanes_;
  FairShares shares_;
  Earliest<End> ends_;
  double shortest_s_ = kNever_s;
};

}  // namespace espalier::simulate
