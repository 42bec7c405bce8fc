#include "simulate/transport/event_loop.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>

#include "planner/plan/send_windows.hpp"
#include "simulate/model/agenda.hpp"
#include "simulate/model/network.hpp"
#include "simulate/model/processors.hpp"
#include "simulate/model/sharing_network.hpp"
#include "simulate/transport/message_front.hpp"

namespace espalier::simulate {

namespace {

// Links: Network or SharingNetwork.
template <class Links>
class EventLoop {
 public:
  EventLoop(const Task& task, const Assignments& assignments, const Windows& windows,
            std::size_t resources, const OnSend& on_send)
      : task_(task),
        assignments_(assignments),
        windows_(windows),
        agenda_(tick_for(task)),
        network_(task, assignments, windows.sharing, resources, agenda_, on_send),
        processors_(task, resources, agenda_, on_send),
        trees_(static_cast<std::uint32_t>(task.flows.trees())),
        up_trees_(static_cast<std::uint32_t>(task.flows.up_trees())),
        most_in_flight_(most_in_flight()),
        flows_(task.flows.all().size()),
        available_(task.flows.hosts() * trees_, 0),
        flow_to_parent_(up_trees_ > 0 ? available_.size() : 0, Links::kNoFlow),
        laggards_(trees_, 0),
        reversed_(up_trees_, 0),
        missing_(task.flows.hosts(), task.count),
        done_(task.flows.hosts(), 0) {
    for (std::uint32_t tree = 0; tree < trees_; ++tree) {
      const auto [first, last] = task.flows.below(task.source, tree);
      laggards_[tree] = last - first;
    }
    for (std::uint32_t i = 0; i < flows_.size(); ++i) {
      const Flow& flow = task.flows.all()[i];
      flows_[i] = {0,
                   window_over(flow, windows.sends),
                   agenda_.ticks(flow.latency_s),
                   flow.up ? window_over(flow, windows.receives) : 0,
                   flow.parent,
                   flow.child,
                   flow.tree,
                   flow.up};
      set_pace(flow, i);
      if (!flow.up) continue;
      flow_to_parent_[place(flow.child, flow.tree)] = i;
      touched_.push_back(i);
    }
    if (assignments.up() != nullptr) {
      const std::uint64_t lookahead =
          lookahead_over({0, up_trees_}, &Edge::receives, base_up(windows.receives));
      accepted_.emplace(*assignments.up(), task.count, lookahead);
    }
    if (assignments.down() != nullptr) {
      const std::uint64_t lookahead =
          lookahead_over({up_trees_, trees_}, &Edge::window, windows.sends);
      injected_.emplace(*assignments.down(), task.count, lookahead);
    }
  }

  GreedyRun run() {
    start_work();
    while (!agenda_.is_empty()) {
      agenda_.advance();
      while (agenda_.has_one_now()) {
        const Event event = agenda_.take();
        if (!agenda_.is_empty()) prefetch(agenda_.next());
        take(event);
      }
      start_work();
    }
    GreedyRun result{{}, agenda_.tick_s(), agenda_.most()};
    for (const Ticks done : done_) result.done_s.push_back(agenda_.seconds(done));
    return result;
  }

 private:
  // The state of a flow that is used in every step.
  struct Edge {
    std::uint64_t sent = 0;  // sends that have ended for its window
    std::uint64_t window = 0;
    Ticks latency = 0;
    std::uint64_t receives = 0;  // up: buffers of the parent for segments that are not added
    std::uint32_t parent = 0;
    std::uint32_t child = 0;
    std::uint32_t tree = 0;
    bool up = false;
    bool is_paced = false;
  };
  struct Pace {
    Ticks time = 0;  // least time from segment to segment
    std::uint64_t posted = 0;
    Ticks due = 0;
  };

  [[nodiscard]] std::size_t place(std::uint32_t host, std::uint32_t tree) const {
    return std::size_t{host} * trees_ + tree;
  }
  // Whether the host keeps the result, and so has memory for it.
  [[nodiscard]] bool keeps_result(std::uint32_t host) const {
    return host == task_.source || injected_.has_value();
  }

  // The window towards the root: `base`, or more in an allreduce.
  [[nodiscard]] std::uint64_t base_up(std::uint64_t base) const {
    if (!windows_.until_received || assignments_.down() == nullptr) return base;
    return planner::window_holding(planner::kAllreduceInFlight, windows_.segment, base);
  }

  // `base`, or more if latencies count. Towards the root MPI uses the rendezvous protocol.
  [[nodiscard]] std::uint64_t window_over(const Flow& flow, std::uint64_t base) const {
    if (flow.up) base = base_up(base);
    if (!windows_.until_received) return base;
    return planner::send_window(base, flow.rate_bps * flow.latency_s, windows_.segment, flow.up);
  }

  // There is no pace if sends take turns, as they are then serialized anyway.
  void set_pace(const Flow& flow, std::uint32_t index) {
    if (windows_.sharing == Sharing::kTurns || !windows_.until_received) return;
    const double most = flow.up ? most_in_flight_.up : most_in_flight_.down;
    if (!planner::keeps_pace(most, windows_.segment)) return;
    paces_.resize(flows_.size());
    paces_[index].time = agenda_.ticks(planner::pace({flow.rate_bps}, windows_.segment).value);
    flows_[index].is_paced = paces_[index].time != 0;
  }

  // The largest bandwidth-delay product of any edge, per kind of trees, in bytes.
  struct InFlight {
    double up = 0;
    double down = 0;
  };
  [[nodiscard]] InFlight most_in_flight() const {
    InFlight most;
    for (const Flow& flow : task_.flows.all()) {
      double& of_kind = flow.up ? most.up : most.down;
      of_kind = std::max(of_kind, flow.rate_bps * flow.latency_s);
    }
    return most;
  }

  // The source's lookahead over its windows in these trees, each of which is `base` without
  // latency.
  [[nodiscard]] std::uint64_t lookahead_over(Flows::Range trees, std::uint64_t Edge::*window,
                                             std::uint64_t base) const {
    std::vector<std::uint64_t> largest;
    for (std::uint32_t tree = trees.first; tree < trees.last; ++tree) {
      const auto [first, last] = task_.flows.below(task_.source, tree);
      std::uint64_t& of_tree = largest.emplace_back(0);
      for (std::uint32_t i = first; i < last; ++i) of_tree = std::max(of_tree, flows_[i].*window);
    }
    return planner::source_lookahead(largest, base);
  }

  // Loads what the event will read, because the state of many flows is not in a cache.
  void prefetch(const Event& event) const {
    if (event.kind == Event::Kind::kRelease) return network_.prefetch(event);
    if (event.kind == Event::Kind::kArrival) __builtin_prefetch(&flows_[event.index]);
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
        touched_.push_back(event.index);
        return;
      case Event::Kind::kCombined:
        processors_.end(event.index, [this](std::uint32_t flow, bool whole) { add(flow, whole); });
    }
  }

  // A segment has passed all stretches. It arrives after the latencies as well; its send ends now
  // or then.
  void leave(std::uint32_t index) {
    const bool is_there = flows_[index].latency == 0;
    if (is_there || !windows_.until_received) end_send(index);
    if (is_there) {
      arrive(index);
    } else {
      agenda_.add(Event::Kind::kArrival, flows_[index].latency, index);
    }
  }

  void end_send(std::uint32_t index) {
    Edge& flow = flows_[index];
    const std::uint64_t sent = ++flow.sent;
    touched_.push_back(index);
    if (!flow.up) {
      if (flow.parent == task_.source) note_sent(flow.tree, sent);
      return;
    }
    if (keeps_result(flow.child)) return;
    count_done(flow.child);
    const auto [first, last] = task_.flows.below(flow.child, flow.tree);
    if (first < last) touched_.push_back(first);  // the buffer of the sum is free again
  }

  void note_sent(std::uint32_t tree, std::uint64_t sent) {
    const std::uint32_t number = tree - up_trees_;
    if (sent != injected_->finished(number) + 1 || --laggards_[tree] > 0) return;
    injected_->finish(number);
    may_inject_ = true;
    const auto [first, last] = task_.flows.below(task_.source, tree);
    for (std::uint32_t flow = first; flow < last; ++flow) {
      if (flows_[flow].sent == injected_->finished(number)) ++laggards_[tree];
    }
  }

  void arrive(std::uint32_t index) {
    const Edge& flow = flows_[index];
    if (flow.up) {
      processors_.arrive(index, [this](std::uint32_t which, bool whole) { add(which, whole); });
      touched_.push_back(index);
      return;
    }
    ++available_[place(flow.child, flow.tree)];
    count_done(flow.child);
    touch_flows_below(flow.child, flow.tree);
  }

  // A segment of the flow has been added to its parent's own; if the sum is complete, it is sent
  // on.
  void add(std::uint32_t index, bool whole) {
    const Edge& flow = flows_[index];
    touched_.push_back(index);
    if (!whole) return;
    if (flow.parent != task_.source) {
      touched_.push_back(flow_to_parent_[place(flow.parent, flow.tree)]);
      return;
    }
    accepted_->finish(flow.tree);
    may_accept_ = true;
    may_inject_ = true;
    count_done(task_.source);
  }

  void count_done(std::uint32_t host) {
    if (--missing_[host] == 0) done_[host] = agenda_.now();
  }

  void touch_flows_below(std::uint32_t host, std::uint32_t tree) {
    const auto [first, last] = task_.flows.below(host, tree);
    for (std::uint32_t flow = first; flow < last; ++flow) touched_.push_back(flow);
  }

  // --- actions of hosts after these ---

  void start_work() {
    processors_.begin();
    post();
    network_.begin_sends();
  }

  void post() {
    if (accepted_ && may_accept_) accept();
    if (injected_ && may_inject_) inject();
    for (const std::uint32_t index : touched_)
      network_.allow(index, paced(index, may_begin(index)));
    touched_.clear();
  }

  // Of the segments that may begin, the number that the pace allows.
  std::uint64_t paced(std::uint32_t index, std::uint64_t segments) {
    if (!flows_[index].is_paced) return segments;
    Pace& pace = paces_[index];
    if (pace.posted < segments && pace.due <= agenda_.now()) {
      ++pace.posted;
      pace.due = agenda_.now() + pace.time;
      agenda_.add(Event::Kind::kDue, pace.time, index);
    }
    return pace.posted;
  }

  [[nodiscard]] std::uint64_t may_begin(std::uint32_t index) const {
    const Edge& flow = flows_[index];
    const std::uint64_t in_window = flow.sent + flow.window;
    if (!flow.up) return std::min(available_[place(flow.parent, flow.tree)], in_window);
    return std::min({processors_.combined(flow.child, flow.tree), in_window, may_receive(index)});
  }

  // The number of segments of a reduce tree's flow for which its parent has posted receives and has
  // buffers. A send uses both from its beginning on, including its latencies.
  [[nodiscard]] std::uint64_t may_receive(std::uint32_t index) const {
    const Edge& flow = flows_[index];
    std::uint64_t allowed = processors_.added(index) + flow.receives;
    if (!keeps_result(flow.parent) && index == task_.flows.below(flow.parent, flow.tree).first) {
      // The sum is made in this buffer, and stays there until it has been sent.
      const Edge& above = flows_[flow_to_parent_[place(flow.parent, flow.tree)]];
      allowed = std::min(above.sent + above.window, processors_.arrived(index)) + flow.receives;
    }
    return flow.parent == task_.source ? std::min(allowed, accepted_->admitted(flow.tree))
                                       : allowed;
  }

  void accept() {
    may_accept_ = false;
    const auto all = [](std::uint64_t, std::size_t, std::uint64_t count) { return count; };
    if (!accepted_->advance(all)) return;
    for (std::uint32_t tree = 0; tree < up_trees_; ++tree) touch_flows_below(task_.source, tree);
  }

  // In an allreduce the root injects segments as they are combined.
  void inject() {
    may_inject_ = false;
    const bool any =
        injected_->advance([this](std::uint64_t segment, std::size_t tree, std::uint64_t count) {
          if (accepted_) count = reverse(segment) ? 1 : 0;
          available_[place(task_.source, up_trees_ + static_cast<std::uint32_t>(tree))] += count;
          return count;
        });
    if (!any) return;
    for (std::uint32_t tree = up_trees_; tree < trees_; ++tree) {
      touch_flows_below(task_.source, tree);
    }
  }

  bool reverse(std::uint64_t segment) {
    const auto tree = static_cast<std::uint32_t>(assignments_.up()->tree_of(segment));
    if (reversed_[tree] == processors_.combined(task_.source, tree)) return false;
    ++reversed_[tree];
    return true;
  }

  const Task& task_;
  const Assignments& assignments_;
  Windows windows_;
  Agenda agenda_;
  Links network_;
  Processors processors_;
  std::uint32_t trees_;
  std::uint32_t up_trees_;
  InFlight most_in_flight_;
  std::vector<Edge> flows_;
  std::vector<Pace> paces_;               // of each flow; empty: none is paced
  std::vector<std::uint64_t> available_;  // per host and broadcast tree: segments that it can send
  std::vector<std::uint32_t> flow_to_parent_;  // per host and reduce tree
  std::optional<MessageFront> accepted_;       // segments of a reduction, at the root
  std::optional<MessageFront> injected_;       // segments of a broadcast, at the source
  bool may_accept_ = true;
  bool may_inject_ = true;
  // Per broadcast tree: children of the source that still lack the oldest unfinished segment.
  std::vector<std::uint32_t> laggards_;
  std::vector<std::uint64_t> reversed_;  // per reduce tree: segments that the root has injected
  std::vector<std::uint64_t> missing_;   // per host: segments, over all trees of a kind
  std::vector<Ticks> done_;
  std::vector<std::uint32_t> touched_;  // at this time: flows that may have a segment to begin
};

}  // namespace

GreedyRun run_greedily(const Task& task, const Assignments& assignments, const Windows& windows,
                       std::size_t resources, const OnSend& on_send) {
  if (windows.sharing == Sharing::kTurns) {
    return EventLoop<Network>(task, assignments, windows, resources, on_send).run();
  }
  return EventLoop<SharingNetwork>(task, assignments, windows, resources, on_send).run();
}

}  // namespace espalier::simulate
