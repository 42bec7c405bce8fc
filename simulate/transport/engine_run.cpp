#include "simulate/transport/engine_run.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "simulate/model/agenda.hpp"
#include "simulate/model/network.hpp"
#include "simulate/model/processors.hpp"
#include "simulate/model/sharing_network.hpp"

namespace espalier::simulate {

namespace {

// What remains until each host is done: it has its part of the result, or has sent what it owes
// where it has none (Simulation::done).
class Remaining {
 public:
  Remaining(const Call& call, const Task& task)
      : by_receive_(task.flows.all().size(), kNobody),
        by_send_(by_receive_),
        left_(task.flows.hosts(), 0),
        done_(task.flows.hosts(), 0) {
    const planner::Operation operation = call.plan.operation;
    std::vector<std::optional<std::uint32_t>> receiver_of;  // of each tree that routes
    for (const planner::PlanTrees& block : planner::blocks_of(call.plan)) {
      receiver_of.insert(receiver_of.end(), block.trees->size(), block.to);
    }
    for (std::uint32_t i = 0; i < by_receive_.size(); ++i) {
      const Flow& flow = task.flows.all()[i];
      const std::optional<std::uint32_t>& to = receiver_of[flow.tree];
      if (flow.up) {
        if (flow.parent == task.root_of(flow.tree)) by_receive_[i] = flow.parent;
        if (operation == planner::Operation::kReduce) by_send_[i] = flow.child;
      } else {
        if (!to || flow.child == *to) by_receive_[i] = flow.child;
        const bool is_first = flow.parent == task.root_of(flow.tree);
        if (operation == planner::Operation::kGather && is_first) by_send_[i] = flow.parent;
      }
      for (const std::uint32_t host : {by_receive_[i], by_send_[i]}) {
        if (host != kNobody) left_[host] += task.segments[flow.tree];
      }
    }
  }

  void note_received(std::uint32_t flow, Ticks now) { count(by_receive_[flow], now); }
  void note_sent(std::uint32_t flow, Ticks now) { count(by_send_[flow], now); }
  [[nodiscard]] std::span<const Ticks> done() const { return done_; }

 private:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  void count(std::uint32_t host, Ticks now) {
    if (host != kNobody && --left_[host] == 0) done_[host] = now;
  }

  // Per flow: the host that waits for its segments to arrive, or to leave.
  std::vector<std::uint32_t> by_receive_;
  std::vector<std::uint32_t> by_send_;
  std::vector<std::uint64_t> left_;  // per host: segments
  std::vector<Ticks> done_;
};

// Links: Network or SharingNetwork.
template <class Links>
class EngineRun {
 public:
  EngineRun(const Call& call, const Task& task, const Windows& windows, std::size_t resources,
            const OnSend& on_send)
      : call_(call),
        task_(task),
        windows_(windows),
        agenda_(tick_for(task)),
        network_(task, call.assignments, windows.sharing, resources, agenda_, on_send),
        processors_(task, resources, agenda_, on_send),
        remaining_(call, task),
        channels_(task.flows.all().size()),
        ranks_(ranks_of(call, windows, channels_)),
        due_at_(ranks_.size(), 0),
        is_woken_(ranks_.size(), 0) {
    for (const Flow& flow : task.flows.all()) latencies_.push_back(agenda_.ticks(flow.latency_s));
  }

  EngineTimes run() {
    const SimulatedRank::Memory memory{.has_results = planner::goes_both_ways(call_.plan.operation),
                                       .has_parts = !planner::routes(call_.plan.operation)};
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank]->begin(memory);
      note_due(rank, ranks_[rank]->due_s());
    }
    move_on();
    while (!agenda_.is_empty()) {
      agenda_.advance();
      const double now_s = agenda_.seconds(agenda_.now());
      if (now_s > windows_.longest.value) return {{}, agenda_.tick_s(), agenda_.most()};
      channels_.set_now(now_s);
      while (agenda_.has_one_now()) {
        const Event event = agenda_.take();
        if (!agenda_.is_empty()) prefetch(agenda_.next());
        take(event);
      }
      move_on();
    }
    for (const auto& rank : ranks_) {
      if (!rank->is_done()) throw std::logic_error("simulated hosts wait for one another");
    }
    EngineTimes result{{}, agenda_.tick_s(), agenda_.most()};
    for (const Ticks done : remaining_.done()) result.done_s.push_back(agenda_.seconds(done));
    return result;
  }

 private:
  // Loads what the event will read, because the state of many flows is not in a cache.
  void prefetch(const Event& event) const {
    std::uint32_t flow = event.index;
    if (event.kind == Event::Kind::kRelease) {
      network_.prefetch(event);
      flow = network_.flow_of(event);
    } else if (event.kind != Event::Kind::kArrival) {
      return;
    }
    for (const Channels::OfRank& next : {channels_.next_send(flow), channels_.next_receive(flow)}) {
      ranks_[next.rank]->prefetch(next.operation);
    }
  }

  // --- ends and arrivals ---

  void take(const Event& event) {
    switch (event.kind) {
      case Event::Kind::kRelease: {
        const std::uint32_t through = network_.release(event);
        if (through != Links::kNoFlow) leave(through);
        return;
      }
      case Event::Kind::kArrival:
        if (windows_.until_received) end_send(event.index);
        arrive(event.index);
        return;
      case Event::Kind::kDue:
        wake(event.index);
        return;
      case Event::Kind::kCombined:
        end_receive(processors_.end(event.index));
    }
  }

  // A segment has passed all stretches. It arrives after the latencies as well; its send ends now
  // or then.
  void leave(std::uint32_t flow) {
    const bool is_there = latencies_[flow] == 0;
    if (is_there || !windows_.until_received) end_send(flow);
    if (is_there) {
      arrive(flow);
    } else {
      agenda_.add(Event::Kind::kArrival, latencies_[flow], flow);
    }
  }

  void end_send(std::uint32_t flow) {
    complete(channels_.end_send(flow));
    remaining_.note_sent(flow, agenda_.now());
  }

  // The engine combines at once. So a segment that is to be combined counts as received when the
  // receiver's processor, which adds one segment at a time, has added it.
  void arrive(std::uint32_t flow) {
    channels_.arrive(flow);
    if (processors_.take_time() && task_.flows.all()[flow].up) {
      processors_.arrive(flow);
    } else {
      deliver(flow);
    }
  }

  void deliver(std::uint32_t flow) {
    while (channels_.has_delivery(flow)) end_receive(flow);
  }

  void end_receive(std::uint32_t flow) {
    complete(channels_.end_receive(flow));
    remaining_.note_received(flow, agenda_.now());
  }

  void complete(const Channels::OfRank& completed) {
    ranks_[completed.rank]->complete(completed.operation);
    wake(completed.rank);
  }

  void wake(std::uint32_t rank) {
    if (std::exchange(is_woken_[rank], 1) == 0) woken_.push_back(rank);
  }

  // --- actions of hosts after these ---

  void move_on() {
    processors_.begin();
    while (!woken_.empty() || !channels_.changed().empty()) {
      moving_.swap(woken_);
      for (const std::uint32_t rank : moving_) {
        is_woken_[rank] = 0;
        note_due(rank, ranks_[rank]->move_on());
      }
      moving_.clear();
      follow_changed();
    }
    network_.begin_sends();
  }

  // A segment may be here before its receive is posted. Then its receiver goes on.
  void follow_changed() {
    changed_.swap(channels_.changed());
    for (const std::uint32_t flow : changed_) {
      if (!processors_.take_time() || !task_.flows.all()[flow].up) deliver(flow);
      network_.allow(flow, channels_.allowed(flow));
    }
    changed_.clear();
  }

  void note_due(std::uint32_t rank, double due_s) {
    if (due_s <= 0) return;
    const auto at =
        std::max(static_cast<Ticks>(std::ceil(due_s / agenda_.tick_s())), agenda_.now() + 1);
    if (due_at_[rank] > agenda_.now() && due_at_[rank] <= at) return;
    due_at_[rank] = at;
    agenda_.add(Event::Kind::kDue, at - agenda_.now(), rank);
  }

  const Call& call_;
  const Task& task_;
  Windows windows_;
  Agenda agenda_;
  Links network_;
  Processors processors_;
  Remaining remaining_;
  Channels channels_;
  std::vector<std::unique_ptr<SimulatedRank>> ranks_;
  std::vector<Ticks> due_at_;  // per rank: when its earliest delayed send is due, if in the future
  std::vector<Ticks> latencies_;  // per flow
  // At this time: ranks on which something has completed or is due, and which of them they are.
  std::vector<std::uint32_t> woken_;
  std::vector<char> is_woken_;
  std::vector<std::uint32_t> moving_;
  std::vector<std::uint32_t> changed_;
};

}  // namespace

EngineTimes run_engines(const Call& call, const Task& task, const Windows& windows,
                        std::size_t resources, const OnSend& on_send) {
  if (windows.sharing == Sharing::kTurns) {
    return EngineRun<Network>(call, task, windows, resources, on_send).run();
  }
  return EngineRun<SharingNetwork>(call, task, windows, resources, on_send).run();
}

}  // namespace espalier::simulate
