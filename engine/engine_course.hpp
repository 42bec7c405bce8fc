// The part of the engine that guides a message from its beginning to its end; included only by
// engine/engine.hpp.
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include "engine/engine.hpp"
#include "planner/plan/send_windows.hpp"

namespace espalier::engine {

template <Transport T>
Engine<T>::Engine(T& transport, std::vector<TreeRole> roles, planner::SegmentAssignment assignment,
                  Options options)
    : transport_(transport),
      roles_(std::move(roles)),
      assignment_(std::move(assignment)),
      options_(std::move(options)),
      is_root_(roles_[0].is_root()),
      combines_(roles_[0].combines),
      receives_(std::ranges::any_of(roles_, [](const TreeRole& role) { return !role.in.empty(); })),
      flows_(roles_.size()) {
  if (!options_.rounds.empty()) rounds_.emplace(options_.rounds);
}

template <Transport T>
void Engine<T>::prepare(const Message& message) {
  message_ = message;
  set_windows();
  assignment_.end_at(message_.grid.count(), segment_bytes());
}

template <Transport T>
void Engine<T>::set_windows() {
  const Bytes segment = segment_bytes();
  const auto at_least = [&](std::uint64_t base) {
    return planner::window_holding(options_.least_in_flight, segment, base);
  };
  const std::uint64_t receives = at_least(options_.receives_in_flight);
  const std::uint64_t sends = at_least(options_.sends_in_flight);
  const bool asks = options_.synchronous || options_.costs.asks(segment);
  std::vector<TreeWindows> windows = windows_of(roles_, receives, sends, segment, asks);
  lookahead_ = lookahead_over(roles_, windows, combines_ ? receives : sends);
  if (options_.timetable) set_scheduled_windows();
  if (!std::ranges::equal(windows, transport_.windows())) {
    transport_.set_windows(std::move(windows));
  }
}

// Over all trees the windows that otherwise apply to one edge, plus the segments in flight. No more
// are needed: under a schedule, high-latency and low-latency segments do not share a port.
template <Transport T>
void Engine<T>::set_scheduled_windows() {
  const auto in_flight = [segment = segment_bytes()](const Edge& edge) {
    return planner::segments_in_flight(edge.bytes_in_flight, segment, true);
  };
  most_sends_ = options_.sends_in_flight;
  most_receives_ = options_.receives_in_flight;
  for (const TreeRole& role : roles_) {
    for (const Edge& edge : role.in) most_receives_ += in_flight(edge);
    for (const Edge& edge : role.out) most_sends_ += in_flight(edge);
  }
  lookahead_ = 2 * options_.timetable->segments + most_sends_;
}

template <Transport T>
void Engine<T>::begin(SegmentStore& store) {
  store_ = &store;
  reset_flows();
  transport_.begin(message_.stoppable);
  transport_.note_progress();
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) post_receives(tree);
  move_on();
}

template <Transport T>
void Engine<T>::reset_flows() {
  next_ = oldest_ = done_bytes_ = 0;
  outstanding_ = 0;
  stopping_ = false;
  if (rounds_) rounds_->reset();
  if (options_.timetable) {
    options_.timetable->sends.reset();
    options_.timetable->receives.reset();
  }
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    Flow& flow = flows_[tree];
    flow = Flow{};
    flow.end = segments_of(tree);
    flow.in.resize(roles_[tree].in.size());
    flow.out.resize(roles_[tree].out.size());
    flow.at_once = flow.out.size();
    // Exchange edges can wait for the whole share only if the store holds all of it.
    if (store_->segments_per_tree() >= flow.end && !options_.timetable) {
      flow.at_once -= roles_[tree].exchanges;
    }
    if (combines_ && flow.in.empty()) flow.ready = flow.kept = flow.end;
  }
}

template <Transport T>
void Engine<T>::wait() {
  if (transport_.has_to_poll() || due_s_ > 0 || store_->has_work()) {
    if (!progress()) transport_.relax(due_s_, receives_);
    return;
  }
  const auto completions = transport_.wait();
  if (!completions) give_up();
  handle(*completions);
  move_on();
}

// The timeout does not apply while the store has work of its own or a segment waits for its pace.
template <Transport T>
bool Engine<T>::progress() {
  const auto completions = transport_.poll();
  const bool any = !completions.empty();
  handle(completions);
  store_->work();
  const bool has_moved = move_on() || any || store_->has_work();
  if (has_moved || due_s_ > 0 || is_done()) {
    transport_.note_progress();
  } else if (transport_.is_overdue()) {
    give_up();
  }
  return has_moved;
}

template <Transport T>
bool Engine<T>::is_done() const {
  return transport_.is_checked() && flows_are_done() && !store_->has_work();
}

template <Transport T>
bool Engine<T>::flows_are_done() const {
  return std::ranges::all_of(flows_, [](const Flow& flow) { return flow.is_done(); });
}

template <Transport T>
bool Engine<T>::is_ready(std::uint64_t index) const {
  const std::size_t tree = assignment_.tree_of(index);
  return transport_.is_checked() && assignment_.count(tree, index) < flows_[tree].ready;
}

template <Transport T>
bool Engine<T>::is_finished(std::uint64_t index) const {
  const std::size_t tree = assignment_.tree_of(index);
  return transport_.is_checked() && assignment_.count(tree, index) < flows_[tree].freed;
}

template <Transport T>
void Engine<T>::handle(std::span<const Completion> completions) {
  for (const Completion& completion : completions) {
    if (completion.kind == Completion::Kind::kAbort) {
      stop_all_flows();
      continue;
    }
    if (completion.error != 0) fail(completion);
    if (completion.operation.is_send) {
      --outstanding_;
    } else {
      check_received(completion);
    }
  }
}

template <Transport T>
bool Engine<T>::move_on() {
  bool has_combined = false;
  due_s_ = 0;
  do {
    bool any = true;
    while (any) {
      any = false;
      load();
      for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
        if (!flows_[tree].is_done()) any = advance(tree) || any;
      }
      load();  // completed sends have freed buffers
      has_combined = has_combined || any;
    }
    if (message_.stoppable && !transport_.is_abort_raised() && store_->failed()) signal_abort();
  } while (begin_next_round());
  return has_combined;
}

template <Transport T>
bool Engine<T>::begin_next_round() {
  if (!rounds_ || flows_are_done()) return false;
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    const Flow& flow = flows_[tree];
    for (const Flow::In& in : flow.in) {
      if (in.here < std::min(flow.end, rounds_->receives_due(tree))) return false;
    }
    for (std::size_t edge = 0; edge < flow.out.size(); ++edge) {
      const std::uint64_t due = std::min(flow.end, rounds_->sends_due(tree, edge));
      if (flow.out[edge].sent < due) return false;
    }
  }
  rounds_->next();
  return true;
}

// Combines one segment at a time, so that sends start as early as possible. Returns whether it did.
template <Transport T>
bool Engine<T>::advance(std::size_t tree) {
  note_arrivals(tree);
  const bool has_combined = combines_ && combine_one(tree);
  start_sends(tree);
  keep_arrived(tree);
  free_sent(tree);
  post_receives(tree);
  return has_combined;
}

template <Transport T>
void Engine<T>::signal_abort() {
  transport_.raise_abort();
  if (!is_root_) return;
  stop_all_flows();
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) advance(tree);
}

template <Transport T>
void Engine<T>::stop_all_flows() {
  if (stopping_) return;
  stopping_ = true;
  for (Flow& flow : flows_) {
    if (flow.ready == flow.end) continue;
    flow.end = flow.kept = ++flow.ready;
    flow.stopped = true;
  }
}

template <Transport T>
void Engine<T>::add_progress(const Segment& segment) {
  done_bytes_ += segment.length * message_.element_bytes;
  if (options_.on_progress) options_.on_progress(done_bytes_);
}

}  // namespace espalier::engine
