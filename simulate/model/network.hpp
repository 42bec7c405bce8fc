// Ports, links and shared links of a greedy run: segments that may begin wait for them, take them
// stretch by stretch, and let them go (simulate/simulate.hpp says by which rules).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulate/model/agenda.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/task.hpp"

namespace espalier::simulate {

class Network {
 public:
  static constexpr std::uint32_t kNoFlow = UINT32_MAX;

  // Keeps references to all. resources: rows of A.
  Network(const Task& task, const Assignments& assignments, std::size_t resources, Agenda& agenda,
          const OnSend& on_send);

  // The first `segments` of the flow may begin; those that have begun stay so.
  void allow(std::uint32_t flow, std::uint64_t segments) {
    lanes_[flow].allowed = segments;
    roused_.push_back(lanes_[flow].stages.first);
  }
  // What the event lets go is free again. The flow whose segment is through with the last of its
  // stretches by that, or kNoFlow.
  std::uint32_t release(const Event& event) {
    Stage& stage = stages_[event.index];
    for (std::uint32_t i = event.first; i < event.last; ++i) {
      is_busy_[needs_[i].resource] = 0;
      released_.push_back(needs_[i].resource);
    }
    if (event.last != needs_of(stage, stage.ended).last) return kNoFlow;
    ++stage.ended;
    roused_.push_back(event.index);
    Lane& lane = lanes_[stage.flow];
    for (std::uint32_t i = lane.stages.first; i < lane.stages.last; ++i) {
      if (stages_[i].ended == lane.through) return kNoFlow;  // another stage still has it
    }
    ++lane.through;
    return stage.flow;
  }
  // All that can begin now, in the order of their ranks.
  void begin_sends();

 private:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  // What a stage needs, in ticks.
  struct Need {
    std::uint32_t resource;
    Ticks time;
  };
  // A flow, and how many of its segments have come how far.
  struct Lane {
    std::uint64_t allowed = 0;
    std::uint64_t through = 0;  // with all stages
    std::uint32_t tree = 0;
    std::uint32_t lead = 0;  // segments of its tree by which it is behind those that begin first
    Range stages;
  };
  // A stretch of a flow's way. Its segments pass it in their order, one at a time.
  struct Stage {
    std::uint32_t flow = 0;
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    bool waits = false;  // its next segment is parked, or about to be looked at
    Range full;          // in needs_
    Range last;          // of the last segment, where that is shorter; else nothing
  };
  struct Parked {
    std::uint64_t rank;
    std::uint32_t stage;
    bool operator>(const Parked& other) const { return rank > other.rank; }
  };
  // What to look at: a stage's next segment, or the first that is parked at a resource.
  struct Candidate {
    std::uint64_t rank;
    std::uint32_t index;
    bool is_stage;
    bool operator>(const Candidate& other) const { return rank > other.rank; }
  };

  Range append(std::span<const Holding> holdings);
  void add_stages(std::uint32_t flow);
  void set_leads();
  [[nodiscard]] bool is_short(const Stage& stage, std::uint64_t nth) const {
    return stage.last.first != stage.last.last &&
           nth + 1 == task_.segments[lanes_[stage.flow].tree];
  }
  [[nodiscard]] Range needs_of(const Stage& stage, std::uint64_t nth) const {
    return is_short(stage, nth) ? stage.last : stage.full;
  }
  [[nodiscard]] std::uint64_t rank_of(const Stage& stage) const;

  void consider(std::uint32_t index);
  void consider_parked(std::uint32_t resource);
  void begin_or_park(std::uint32_t stage, std::uint64_t rank);
  void begin(std::uint32_t index);
  void tell(std::uint32_t index) const;

  const Task& task_;
  const Assignments& assignments_;
  Agenda& agenda_;
  const OnSend& on_send_;
  std::vector<Lane> lanes_;    // one a flow
  std::vector<Stage> stages_;  // by flow, from the sender on
  std::vector<Need> needs_;
  std::vector<char> is_busy_;             // of each resource
  std::vector<Earliest<Parked>> parked_;  // of each resource: what waits for it, and perhaps others
  std::vector<std::uint32_t> roused_;     // now: stages that may have something to begin
  std::vector<std::uint32_t> released_;   // now: resources
  Earliest<Candidate> candidates_;        // now
};

}  // namespace espalier::simulate
