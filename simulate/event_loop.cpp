#include "simulate/event_loop.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <span>

#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

using Ticks = std::int64_t;

template <class Entry>
using Earliest = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

// The power of two that the longest possible run, one send after the other, fits 2^61 times into.
double tick_for(const Task& task) {
  double longest = 0;
  for (std::size_t i = 0; i < task.flows.all().size(); ++i) {
    const Flow& flow = task.flows.all()[i];
    double seconds = flow.latency_s;
    for (const Holding& held : task.full.of(i)) seconds += held.seconds;
    longest += static_cast<double>(task.slices[flow.tree]) * seconds;
  }
  if (!std::isfinite(longest)) throw InputError("the message would take for ever");
  constexpr int kBits = 61;
  return std::ldexp(1.0, std::max(std::ilogb(std::max(longest, 1e-300)) + 1 - kBits, -1070));
}

class EventLoop {
 public:
  EventLoop(const Task& task, const planner::SliceDealer& dealer, std::uint64_t window,
            std::size_t resources, const OnSend& on_send)
      : task_(task),
        dealer_(dealer),
        on_send_(on_send),
        tick_s_(tick_for(task)),
        trees_(task.flows.trees()),
        window_(window),
        lookahead_(planner::source_lookahead(trees_, window)),
        here_(task.flows.hosts() * trees_, 0),
        source_(trees_),
        missing_(task.flows.hosts(), 0),
        done_(task.flows.hosts(), 0),
        is_busy_(resources, 0),
        parked_(resources) {
    for (const std::uint64_t slices : task.slices) slices_ += slices;
    std::ranges::fill(missing_, slices_);
    for (std::uint32_t tree = 0; tree < trees_; ++tree) {
      const auto [first, last] = task.flows.out_of(task.source, tree);
      source_[tree].laggards = last - first;
    }
    const std::span<const Flow> flows = task.flows.all();
    flows_.resize(flows.size());
    for (std::uint32_t i = 0; i < flows.size(); ++i) {
      flows_[i].latency = ticks(flows[i].latency_s);
      add_stages(i);
    }
    for (std::uint32_t tree = 0; tree < trees_; ++tree) measure_depths(tree);
  }

  GreedyRun run() {
    post();
    begin_sends();
    while (!events_.empty()) {
      now_ = events_.top().time;
      while (!events_.empty() && events_.top().time == now_) {
        const Event event = events_.top();
        events_.pop();
        event.is_arrival() ? arrive(event.index) : release(event);
      }
      post();
      begin_sends();
    }
    GreedyRun result{{}, tick_s_, most_events_};
    for (const Ticks done : done_) {
      result.done_s.push_back(static_cast<double>(done) * tick_s_);
    }
    return result;
  }

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
  // A flow, and how many of its slices have come how far.
  struct State {
    std::uint64_t posted = 0;
    std::uint64_t sent = 0;  // through with all stages
    Ticks latency = 0;
    std::uint32_t depth = 0;  // of the parent: edges from the source
    Range stages;
  };
  // A stretch of a flow's way. Its slices pass it in their order, one at a time.
  struct Stage {
    std::uint32_t flow = 0;
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    bool waits = false;  // its next slice is parked, or about to be looked at
    Range full;          // in needs_
    Range last;
  };
  // Stage `index` lets needs_[first, last) go at `time`; if that is nothing, a slice of flow
  // `index` arrives.
  struct Event {
    Ticks time;
    std::uint32_t index;
    std::uint32_t first;
    std::uint32_t last;
    [[nodiscard]] bool is_arrival() const { return first == last; }
    bool operator>(const Event& other) const { return time > other.time; }
  };
  struct Parked {
    std::uint64_t rank;
    std::uint32_t stage;
    bool operator>(const Parked& other) const { return rank > other.rank; }
  };
  // What to look at: a stage's next slice, or the first that is parked at a resource.
  struct Candidate {
    std::uint64_t rank;
    std::uint32_t index;
    bool is_stage;
    bool operator>(const Candidate& other) const { return rank > other.rank; }
  };
  // How far a tree is from the source's point of view.
  struct SourceTree {
    std::uint64_t freed = 0;     // sent to all children
    std::uint32_t laggards = 0;  // children to whom no more than that is sent
  };

  [[nodiscard]] Ticks ticks(double seconds) const { return std::llround(seconds / tick_s_); }

  Range append(std::span<const Holding> holdings) {
    const auto first = static_cast<std::uint32_t>(needs_.size());
    for (const Holding& held : holdings) needs_.push_back({held.resource, ticks(held.seconds)});
    return {first, static_cast<std::uint32_t>(needs_.size())};
  }
  void measure_depths(std::uint32_t tree) {
    std::vector<std::uint32_t> hosts{task_.source};
    for (std::uint32_t depth = 0; !hosts.empty(); ++depth) {
      std::vector<std::uint32_t> below;
      for (const std::uint32_t host : hosts) {
        const auto [first, last] = task_.flows.out_of(host, tree);
        for (std::uint32_t flow = first; flow < last; ++flow) {
          flows_[flow].depth = depth;
          below.push_back(task_.flows.all()[flow].child);
        }
      }
      hosts = std::move(below);
    }
  }
  void add_stages(std::uint32_t flow) {
    const auto [first, last] = task_.full.stretches(flow);
    flows_[flow].stages.first = static_cast<std::uint32_t>(stages_.size());
    for (std::uint32_t stretch = first; stretch < last; ++stretch) {
      Stage stage;
      stage.flow = flow;
      stage.full = append(task_.full.held_on(stretch));
      if (task_.flows.all()[flow].tree == task_.short_tree) {
        stage.last = append(task_.last.held_on(stretch));
      }
      stages_.push_back(stage);
    }
    flows_[flow].stages.last = static_cast<std::uint32_t>(stages_.size());
  }
  [[nodiscard]] bool is_short(const Stage& stage, std::uint64_t nth) const {
    return task_.is_short(task_.flows.all()[stage.flow].tree, nth);
  }
  [[nodiscard]] Range needs_of(const Stage& stage, std::uint64_t nth) const {
    return is_short(stage, nth) ? stage.last : stage.full;
  }
  std::uint64_t& here(std::uint32_t host, std::uint32_t tree) {
    return here_[host * trees_ + tree];
  }
  // Sends begin in the order of the message, as if every host were a slice of the tree behind its
  // parent; where that is the same, in the order of the flows.
  [[nodiscard]] std::uint64_t rank_of(const Stage& stage) const {
    const std::uint64_t due = stage.started + flows_[stage.flow].depth;
    const std::uint64_t slice = dealer_.slice_of(task_.flows.all()[stage.flow].tree, due);
    return slice * flows_.size() + stage.flow;
  }

  // --- ends and arrivals ---

  void release(const Event& event) {
    Stage& stage = stages_[event.index];
    for (std::uint32_t i = event.first; i < event.last; ++i) {
      is_busy_[needs_[i].resource] = 0;
      released_.push_back(needs_[i].resource);
    }
    if (event.last != needs_of(stage, stage.ended).last) return;
    ++stage.ended;
    roused_.push_back(event.index);
    State& state = flows_[stage.flow];
    for (std::uint32_t i = state.stages.first; i < state.stages.last; ++i) {
      if (stages_[i].ended == state.sent) return;  // another stage still has it
    }
    ++state.sent;
    touched_.push_back(stage.flow);
    const Flow& flow = task_.flows.all()[stage.flow];
    if (flow.parent == task_.source) note_sent(flow.tree, state.sent);
    if (state.latency == 0) {
      arrive(stage.flow);
    } else {
      schedule({now_ + state.latency, stage.flow, 0, 0});
    }
  }

  void note_sent(std::uint32_t tree, std::uint64_t sent) {
    SourceTree& at = source_[tree];
    if (sent != at.freed + 1 || --at.laggards > 0) return;
    ++at.freed;
    may_let_go_ = true;
    const auto [first, last] = task_.flows.out_of(task_.source, tree);
    for (std::uint32_t flow = first; flow < last; ++flow) {
      if (flows_[flow].sent == at.freed) ++at.laggards;
    }
  }

  void arrive(std::uint32_t index) {
    const Flow& flow = task_.flows.all()[index];
    ++here(flow.child, flow.tree);
    if (--missing_[flow.child] == 0) done_[flow.child] = now_;
    touch_flows_out_of(flow.child, flow.tree);
  }

  void touch_flows_out_of(std::uint32_t host, std::uint32_t tree) {
    const auto [first, last] = task_.flows.out_of(host, tree);
    for (std::uint32_t flow = first; flow < last; ++flow) touched_.push_back(flow);
  }

  void schedule(const Event& event) {
    events_.push(event);
    most_events_ = std::max<std::uint64_t>(most_events_, events_.size());
  }

  // --- posting ---

  void post() {
    if (may_let_go_) let_go();
    for (const std::uint32_t index : touched_) {
      const Flow& flow = task_.flows.all()[index];
      State& state = flows_[index];
      state.posted = std::min(here(flow.parent, flow.tree), state.sent + window_);
      roused_.push_back(state.stages.first);
    }
    touched_.clear();
  }

  void let_go() {
    may_let_go_ = false;
    const std::uint64_t before = let_go_;
    while (let_go_ < slices_ && !is_too_far_ahead()) {
      const auto tree = static_cast<std::uint32_t>(dealer_.tree_of(let_go_++));
      ++here(task_.source, tree);
    }
    if (let_go_ == before) return;
    for (std::uint32_t tree = 0; tree < trees_; ++tree) touch_flows_out_of(task_.source, tree);
  }

  [[nodiscard]] bool is_too_far_ahead() {
    if (let_go_ - oldest_ < lookahead_) return false;
    oldest_ = let_go_;
    for (std::uint32_t tree = 0; tree < trees_; ++tree) {
      if (source_[tree].freed == here(task_.source, tree)) continue;
      oldest_ = std::min(oldest_, dealer_.slice_of(tree, source_[tree].freed));
    }
    return let_go_ - oldest_ >= lookahead_;
  }

  // --- sends ---

  // In the order of their ranks. Only what needs something that was released now, and what has come
  // to its stage or to the head of it now, can have become possible: all else is parked at a
  // resource that is still busy.
  void begin_sends() {
    for (const std::uint32_t stage : roused_) consider(stage);
    roused_.clear();
    for (const std::uint32_t resource : released_) consider_parked(resource);
    released_.clear();
    while (!candidates_.empty()) {
      const Candidate candidate = candidates_.top();
      candidates_.pop();
      if (candidate.is_stage) {
        begin_or_park(candidate.index, candidate.rank);
      } else if (is_busy_[candidate.index] == 0 && !parked_[candidate.index].empty()) {
        const Parked first = parked_[candidate.index].top();
        parked_[candidate.index].pop();
        begin_or_park(first.stage, first.rank);
        consider_parked(candidate.index);
      }
    }
  }

  void consider(std::uint32_t index) {
    Stage& stage = stages_[index];
    const State& state = flows_[stage.flow];
    const std::uint64_t come =
        index == state.stages.first ? state.posted : stages_[index - 1].started;
    if (stage.waits || stage.started == come || stage.started != stage.ended) return;
    stage.waits = true;
    candidates_.push({rank_of(stage), index, true});
  }

  void consider_parked(std::uint32_t resource) {
    if (is_busy_[resource] != 0 || parked_[resource].empty()) return;
    candidates_.push({parked_[resource].top().rank, resource, false});
  }

  void begin_or_park(std::uint32_t stage, std::uint64_t rank) {
    const auto [first, last] = needs_of(stages_[stage], stages_[stage].started);
    for (std::uint32_t i = first; i < last; ++i) {
      if (is_busy_[needs_[i].resource] == 0) continue;
      parked_[needs_[i].resource].push({rank, stage});
      return;
    }
    begin(stage);
  }

  void begin(std::uint32_t index) {
    Stage& stage = stages_[index];
    stage.waits = false;
    const auto [first, last] = needs_of(stage, stage.started);
    if (on_send_) tell(index);
    ++stage.started;
    for (std::uint32_t i = first; i < last; ++i) is_busy_[needs_[i].resource] = 1;
    for (std::uint32_t i = first; i < last;) {
      const std::uint32_t group = i;
      const Ticks time = needs_[i].time;
      while (i < last && needs_[i].time == time) ++i;
      schedule({now_ + time, index, group, i});
    }
    if (index + 1 < flows_[stage.flow].stages.last) consider(index + 1);
  }

  void tell(std::uint32_t index) {
    const Stage& stage = stages_[index];
    const Flow& flow = task_.flows.all()[stage.flow];
    const Holdings& holdings = is_short(stage, stage.started) ? task_.last : task_.full;
    const std::uint32_t stretch =
        holdings.stretches(stage.flow).first + index - flows_[stage.flow].stages.first;
    on_send_({flow.tree,
              flow.parent,
              flow.child,
              stage.started,
              {static_cast<double>(now_) * tick_s_},
              holdings.held_on(stretch)});
  }

  const Task& task_;
  const planner::SliceDealer& dealer_;
  const OnSend& on_send_;
  double tick_s_;
  std::size_t trees_;
  std::uint64_t slices_ = 0;
  std::uint64_t window_;
  std::uint64_t lookahead_;
  std::uint64_t let_go_ = 0;
  std::uint64_t oldest_ = 0;
  bool may_let_go_ = true;

  std::vector<std::uint64_t> here_;  // of host and tree: slices that it has; on the source, let go
  std::vector<SourceTree> source_;
  std::vector<std::uint64_t> missing_;  // of each host: slices, over all trees
  std::vector<Ticks> done_;
  std::vector<State> flows_;
  std::vector<Stage> stages_;  // by flow, from the sender on
  std::vector<Need> needs_;

  std::vector<char> is_busy_;             // of each resource
  std::vector<Earliest<Parked>> parked_;  // of each resource: what waits for it, and perhaps others
  Ticks now_ = 0;
  Earliest<Event> events_;
  std::uint64_t most_events_ = 0;
  std::vector<std::uint32_t> touched_;   // now: flows that may have something to post
  std::vector<std::uint32_t> roused_;    // now: stages that may have something to begin
  std::vector<std::uint32_t> released_;  // now: resources
  Earliest<Candidate> candidates_;       // now
};

}  // namespace

GreedyRun run_greedily(const Task& task, const planner::SliceDealer& dealer, std::uint64_t window,
                       std::size_t resources, const OnSend& on_send) {
  return EventLoop(task, dealer, window, resources, on_send).run();
}

}  // namespace espalier::simulate
