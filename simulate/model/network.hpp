// The ports, links and shared links of a greedy run. Segments that may begin wait for them, occupy
// them stretch by stretch, and release them, by the rules in simulate/simulate.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulate/model/agenda.hpp"
#include "simulate/model/wait_list.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/task.hpp"

namespace espalier::simulate {

class Network {
 public:
  static constexpr std::uint32_t kNoFlow = UINT32_MAX;

  // Keeps references to all. sharing: kTurns. resources: rows of A.
  Network(const Task& task, const Assignments& assignments, Sharing sharing, std::size_t resources,
          Agenda& agenda, const OnSend& on_send);

  // Allows the first `segments` segments of the flow to begin. Those in progress are unaffected.
  void allow(std::uint32_t flow, std::uint64_t segments) {
    Lane& lane = lanes_[flow];
    if (lane.allowed == segments) return;
    lane.allowed = segments;
    woken_.push_back(lane.stages.first);
  }
  // Frees the event's resources. Returns the flow whose segment has thereby passed its last
  // stretch, or kNoFlow.
  std::uint32_t release(const Event& event) {
    Stage& stage = stages_[event.index];
    for (std::uint32_t i = event.first; i < event.last; ++i) {
      const std::uint32_t resource = needs_[i].resource;
      is_busy_[resource] = 0;
      if (!waiting_[resource].empty()) released_.push_back(resource);
    }
    if (event.last != needs_of(stage, stage.ended()).last) return kNoFlow;
    stage.is_busy = false;
    woken_.push_back(event.index);
    Lane& lane = lanes_[stage.flow];
    for (std::uint32_t i = lane.stages.first; i < lane.stages.last; ++i) {
      if (stages_[i].ended() == lane.through)
        return kNoFlow;  // the segment is still in another stage
    }
    ++lane.through;
    return stage.flow;
  }
  // Loads what release will read: there is more state than caches close to the processor hold.
  void prefetch(const Event& event) const {
    __builtin_prefetch(&stages_[event.index]);
    __builtin_prefetch(&needs_[event.first]);
  }
  [[nodiscard]] std::uint32_t flow_of(const Event& event) const {
    return stages_[event.index].flow;
  }
  // Begins all sends that can begin now, in the order of their ranks.
  void begin_sends();

 private:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  // A resource that a stage needs, and for how many ticks.
  struct Need {
    std::uint32_t resource;
    Ticks time;
  };
  // The progress of a flow: how many of its segments have passed which point.
  struct Lane {
    std::uint64_t allowed = 0;
    std::uint64_t through = 0;  // have passed all stages
    std::uint32_t tree = 0;
    std::uint32_t lag = 0;    // in segments of its tree, behind the flows that begin first
    std::uint32_t order = 0;  // among sends whose turns are equal
    Range stages;
  };
  // A stretch of a flow's path. The flow's segments pass it in order, one at a time.
  struct Stage {
    std::uint64_t started = 0;
    std::uint32_t flow = 0;
    std::uint32_t needs = 0;  // the first of its own, in needs_: those of a whole segment, and then
    std::uint32_t full = 0;   // those of the last segment if that is shorter
    std::uint32_t last = 0;   // how many these are; otherwise 0
    bool waits = false;       // its next segment is in the lists of its resources, or a candidate
    bool is_busy = false;     // a segment has started and not ended

    [[nodiscard]] std::uint64_t ended() const { return started - (is_busy ? 1 : 0); }
  };
  // To be tried: a stage's next segment, which waits in a resource's list, or in none yet.
  struct Candidate {
    std::uint64_t rank;
    std::uint32_t stage;
    std::uint32_t resource;  // kNone: in no list
    std::size_t place;       // in the list
    bool operator>(const Candidate& other) const { return rank > other.rank; }
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t append(std::span<const Holding> holdings);
  void add_stages(std::uint32_t flow);
  void set_lags();
  void set_order();
  [[nodiscard]] bool is_short(const Stage& stage, std::uint64_t nth) const {
    return stage.last != 0 && nth + 1 == task_.segments[lanes_[stage.flow].tree];
  }
  [[nodiscard]] Range needs_of(const Stage& stage, std::uint64_t nth) const {
    const std::uint32_t full = stage.needs + stage.full;
    return is_short(stage, nth) ? Range{full, full + stage.last} : Range{stage.needs, full};
  }
  [[nodiscard]] std::uint64_t rank_of(const Stage& stage) const;

  void consider(std::uint32_t index);
  // The first segment in the resource's list, from this place on, whose resources are all free.
  void consider_waiting(std::uint32_t resource, std::size_t place);
  [[nodiscard]] bool can_begin(const Stage& stage) const;
  void begin(std::uint32_t index);
  void wait(const Candidate& candidate);
  void end_wait(const Candidate& candidate);
  void report(std::uint32_t index) const;

  const Task& task_;
  const Assignments& assignments_;
  Agenda& agenda_;
  const OnSend& on_send_;
  std::vector<Lane> lanes_;    // one per flow
  std::vector<Stage> stages_;  // by flow, from the sender to the receiver
  std::vector<Need> needs_;
  // By resource: whether it is busy; when the last stage releases it; and stages that wait. Each
  // that waits is in the list of a busy resource that it needs.
  std::vector<char> is_busy_;
  std::vector<Ticks> until_;
  std::vector<WaitList> waiting_;
  std::vector<std::uint32_t> woken_;     // at this time: stages that may have a segment to begin
  std::vector<std::uint32_t> released_;  // at this time: resources
  Earliest<Candidate> candidates_;       // at this time
  std::uint64_t begun_ = 0;              // stretches
};

}  // namespace espalier::simulate
