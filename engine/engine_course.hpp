// The part of the engine that guides a message from its beginning to its end; included only by
// engine/engine.hpp.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "engine/engine.hpp"
#include "planner/plan/send_windows.hpp"

namespace espalier::engine {

template <Transport T>
Engine<T>::Engine(T& transport, std::vector<Block> blocks, Options options)
    : transport_(transport),
      reports_progress_(options.on_progress != nullptr),
      roles_(trees_of(blocks)),
      options_(std::move(options)) {
  flows_.resize(roles_.size());
  std::size_t ins = 0;
  std::size_t outs = 0;
  for (const TreeRole& role : roles_) {
    const auto is_ring = [](const Edge& edge) { return edge.uses_ring(); };
    uses_rings_ = uses_rings_ || std::ranges::any_of(role.in, is_ring) ||
                  std::ranges::any_of(role.out, is_ring);
    ins += role.in.size();
    outs += role.out.size();
  }
  in_.resize(ins);
  out_.resize(outs);
  routes_ = std::ranges::all_of(blocks, &Block::routes);
  may_be_crowded_ = exchanges_with_more_than(options_.crowd.most, roles_);
  std::size_t last = 0;
  for (Block& block : blocks) {
    const std::size_t first = std::exchange(last, last + block.trees.size());
    for (std::size_t tree = first; tree < last; ++tree) {
      flows_[tree].part = static_cast<std::uint32_t>(parts_.size());
    }
    if (block.after) {
      parts_[*block.after].is_followed = true;
      waiting_for_.resize(flows_.size());
    }
    const bool combines = block.combines();
    const bool concerns_rank = block.concerns_rank();
    Part& part = parts_.emplace_back(Part{std::move(block), first, last, combines, concerns_rank});
    part.block.trees.clear();
    if (!part.block.rounds.empty()) part.rounds.emplace(part.block.rounds);
    has_rounds_ = has_rounds_ || part.rounds;
    combines_any_ = combines_any_ || combines;
  }
}

template <Transport T>
void Engine<T>::prepare(const Message& message, std::span<const Range> ranges) {
  message_ = message;
  looks_at_all_ = (options_.ports != 0 && !routes_) || options_.timetable || has_rounds_ ||
                  uses_rings_ || message.stoppable;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].range = ranges[i];
    parts_[i].block.assignment.end_at(parts_[i].count(), segment_bytes(parts_[i]));
  }
  set_windows();
}

template <Transport T>
void Engine<T>::set_windows() {
  std::vector<TreeWindows> windows;
  for (Part& part : parts_) {
    std::ranges::move(windows_for(part), std::back_inserter(windows));
  }
  if (options_.timetable) set_scheduled_windows(windows);
  if (!std::ranges::equal(windows, transport_.windows())) {
    transport_.set_windows(std::move(windows));
  }
}

// Sets the block's lookahead, too.
template <Transport T>
std::vector<TreeWindows> Engine<T>::windows_for(Part& part) const {
  const Bytes segment = segment_bytes(part);
  const auto at_least = [&](std::uint64_t base) {
    return planner::window_holding(part.block.least_in_flight, segment, base);
  };
  const std::uint64_t receives = at_least(options_.receives_in_flight);
  const std::uint64_t sends = at_least(options_.sends_in_flight);
  const bool asks = part.block.synchronous || options_.costs.asks(segment);
  const auto roles = std::span(roles_).subspan(part.first, part.last - part.first);
  std::vector<TreeWindows> windows = windows_of(roles, receives, sends, segment, asks);
  part.lookahead = lookahead_over(roles, windows, part.combines ? receives : sends);
  return windows;
}

// Over all trees the windows that otherwise apply to one edge, plus the segments in flight. No more
// are needed: under a schedule, high-latency and low-latency segments do not share a port. Where
// segments are combined, the buffers are those of the windows (combining_buffers).
template <Transport T>
void Engine<T>::set_scheduled_windows(std::vector<TreeWindows>& windows) {
  const auto in_flight = [segment = segment_bytes(parts_.front())](const Edge& edge) {
    return planner::segments_in_flight(edge.bytes_in_flight, segment, true);
  };
  most_sends_ = options_.sends_in_flight;
  most_receives_ = options_.receives_in_flight;
  for (const TreeRole& role : roles_) {
    for (const Edge& edge : role.in) most_receives_ += in_flight(edge);
    for (const Edge& edge : role.out) most_sends_ += in_flight(edge);
  }
  for (Part& part : parts_) part.lookahead = 2 * options_.timetable->segments + most_sends_;
  for (const SlotOrder::Edge& edge : options_.timetable->receives.edges()) {
    if (!roles_[edge.tree].combines) continue;
    std::uint64_t& window = windows[edge.tree].in[edge.edge];
    window = std::max(window, edge.held);
  }
}

template <Transport T>
void Engine<T>::begin(SegmentStore& store) {
  store_ = &store;
  reset_flows();
  transport_.begin(message_.stoppable);
  transport_.note_progress();
  for (Flow& flow : flows_) post_receives(flow);
  touch_all();
  move_on();
}

template <Transport T>
void Engine<T>::reset_flows() {
  done_bytes_ = 0;
  outstanding_ = {};
  limited_sends_ = 0;
  waiting_.clear();
  most_limited_sends_ = most_limited_sends();
  stopping_ = false;
  was_checked_ = false;
  undone_ = 0;
  delayed_.clear();
  for (Part& part : parts_) {
    part.next = part.oldest = 0;
    part.too_far.clear();
    if (part.rounds) part.rounds->reset();
  }
  if (options_.timetable) {
    options_.timetable->sends.reset();
    options_.timetable->receives.reset();
  }
  for (std::vector<std::uint32_t>& trees : waiting_for_) trees.clear();
  std::size_t ins = 0;
  std::size_t outs = 0;
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    flows_[tree] = {.in = std::span(in_).subspan(ins, roles_[tree].in.size()),
                    .out = std::span(out_).subspan(outs, roles_[tree].out.size()),
                    .tree = static_cast<std::uint32_t>(tree),
                    .part = flows_[tree].part};
    ins += roles_[tree].in.size();
    outs += roles_[tree].out.size();
    reset(tree);
  }
  in_order_.clear();
  for (const Flow& flow : flows_) {
    if (!flow.sends_in_order || parts_[flow.part].count() == 0) continue;
    if (in_order_.empty() || in_order_.back() != flow.part) in_order_.push_back(flow.part);
  }
  std::ranges::make_heap(in_order_, [this](auto a, auto b) { return is_later(a, b); });
}

// Where segments are paced, the pace keeps trees at their rates.
template <Transport T>
bool Engine<T>::sends_in_order(const Flow& flow) const {
  if (!flow.combines || flow.out.empty()) return false;
  if (options_.ports != 0) return true;
  return flow.in.empty() && !options_.timetable && in_rounds(flow) == nullptr &&
         flow.out.front().pace_s == 0 && !roles_[flow.tree].out.front().uses_ring();
}

template <Transport T>
void Engine<T>::reset(std::size_t tree) {
  const TreeRole& role = roles_[tree];
  const Part& part = part_of(tree);
  const TreeWindows& windows = transport_.windows()[tree];
  Flow& flow = flows_[tree];
  flow.end = part.block.is_root || role.concerns_rank() ? segments_of(tree) : 0;
  flow.combines = part.combines;
  flow.at_root = part.block.is_root;
  flow.is_follower = part.block.after.has_value();
  flow.is_followed = part.is_followed;
  flow.at_once = static_cast<std::uint32_t>(flow.out.size());
  // Exchange edges can wait for the whole share only if the store holds all of it.
  if (store_->segments_per_tree() >= flow.end && !options_.timetable) {
    flow.at_once -= static_cast<std::uint32_t>(role.exchanges);
  }
  for (std::size_t edge = 0; edge < flow.in.size(); ++edge) {
    flow.in[edge] = {.capacity = store_->capacity(tree, edge),
                     .window = windows.in[edge],
                     .is_sent_from = store_->sends_from(tree, edge)};
  }
  for (std::size_t edge = 0; edge < flow.out.size(); ++edge) {
    flow.out[edge] = {
        .window = windows.out[edge],
        .synchronous_every = part.block.synchronous ? 1 : role.out[edge].synchronous_every,
        .pace_s = pace_s(tree, edge)};
    flow.out[edge].due_s = first_due_s(flow, edge);
  }
  flow.sends_in_order = sends_in_order(flow);
  if (most_limited_sends_ != 0 && flow.in.empty()) {
    for (std::size_t edge = 0; edge < flow.out.size(); ++edge) {
      flow.out[edge].limited = limited_sends(flow, edge);
    }
  }
  if (part.combines && flow.in.empty()) flow.ready = flow.kept = flow.end;
  flow.touch_all_edges();
  flow.count_laggards();
  if (!flow.is_done()) ++undone_;
}

template <Transport T>
void Engine<T>::wait() {
  if (transport_.has_to_poll() || due_s_ > 0) {
    if (!progress()) transport_.relax(due_s_, !in_.empty());
    return;
  }
  const auto completions = transport_.wait();
  if (!completions) give_up();
  handle(*completions);
  move_on();
}

// The timeout does not apply while a segment waits for its pace.
template <Transport T>
bool Engine<T>::progress() {
  const auto completions = transport_.poll();
  const bool any = !completions.empty();
  if (any) handle(completions);
  const bool has_moved = move_on() || any;
  if (has_moved || due_s_ > 0 || is_done()) {
    transport_.note_progress();
  } else if (transport_.is_overdue()) {
    give_up();
  }
  return has_moved;
}

template <Transport T>
bool Engine<T>::is_done() const {
  return transport_.is_checked() && undone_ == 0;
}

template <Transport T>
bool Engine<T>::flows_are_done(std::size_t first, std::size_t last) const {
  return std::all_of(flows_.begin() + static_cast<std::ptrdiff_t>(first),
                     flows_.begin() + static_cast<std::ptrdiff_t>(last),
                     [](const Flow& flow) { return flow.is_done(); });
}

template <Transport T>
void Engine<T>::handle(std::span<const Completion> completions) {
  for (const Completion& completion : completions) {
    if (completion.kind == Completion::Kind::kAbort) {
      stop_all_flows();
      continue;
    }
    if (completion.error != 0) fail(completion);
    if constexpr (T::kMovesBytes) {
      if (!completion.operation.is_send) check_received(completion);
    }
    complete(completion.operation);
  }
}

template <Transport T>
void Engine<T>::complete(const Operation& operation) {
  Flow& flow = flows_[operation.tree];
  note(flow);
  if (operation.is_send) {
    note_sent(flow, operation.edge);
  } else {
    note_arrived(flow, operation.edge);
  }
}

template <Transport T>
void Engine<T>::count_complete(std::uint64_t& complete, std::uint64_t begun, Operation of) {
  if constexpr (!T::kMovesBytes) {
    ++complete;
  } else {
    while (complete < begun && transport_.is_complete(of)) of.nth = ++complete;
  }
}

template <Transport T>
bool Engine<T>::move_on() {
  bool has_combined = false;
  if (due_s_ > 0) {
    due_s_ = 0;
    touch_each(delayed_);
  }
  const bool is_checked = transport_.is_checked();
  if (looks_at_all_ || is_checked != was_checked_) touch_all();
  was_checked_ = is_checked;
  do {
    if (!touched_parts_.empty()) load_touched();
    while (!touched_.empty()) {
      has_combined = advance_touched() || has_combined;
      if (most_limited_sends_ != 0) start_limited_sends();
      if (!touched_parts_.empty()) load_touched();  // completed sends have freed buffers
    }
    if (looks_at_all_ && message_.stoppable && !transport_.is_abort_raised() && store_->failed())
      signal_abort();
  } while (has_rounds_ && begin_next_rounds());
  return has_combined;
}

template <Transport T>
bool Engine<T>::advance_touched() {
  bool has_combined = false;
  // Those that are touched meanwhile come after them.
  const std::size_t count = touched_.size();
  if (count > 1) std::ranges::sort(touched_);
  for (std::size_t i = 0; i < count; ++i) {
    Flow& flow = flows_[touched_[i]];
    flow.is_touched = false;
    if (!flow.is_done() && advance(flow)) {
      has_combined = true;
      note(flow);
    }
    if (flow.loads()) note_loading(flow.part);
    touch_waiting(flow);
  }
  touched_.erase(touched_.begin(), touched_.begin() + static_cast<std::ptrdiff_t>(count));
  return has_combined;
}

template <Transport T>
bool Engine<T>::begin_next_rounds() {
  bool any = false;
  for (Part& part : parts_) {
    if (part.rounds) any = begin_next_round(part) || any;
  }
  if (any) touch_all();
  return any;
}

template <Transport T>
bool Engine<T>::begin_next_round(Part& part) {
  if (flows_are_done(part.first, part.last)) return false;
  for (std::size_t tree = part.first; tree < part.last; ++tree) {
    const Flow& flow = flows_[tree];
    const std::size_t own = tree - part.first;
    for (std::size_t edge = 0; edge < flow.in.size(); ++edge) {
      if (flow.in[edge].here < std::min(flow.end, part.rounds->receives_due(own, edge)))
        return false;
    }
    for (std::size_t edge = 0; edge < flow.out.size(); ++edge) {
      if (flow.out[edge].sent < std::min(flow.end, part.rounds->sends_due(own, edge))) return false;
    }
  }
  part.rounds->next();
  return true;
}

// Combines one segment at a time, so that sends start as early as possible. Returns whether it did.
template <Transport T>
bool Engine<T>::advance(Flow& flow) {
  const bool has_combined = flow.combines && combine_one(flow);
  if (looks_at_all_ || !flow.to_send.is_empty()) start_sends(flow);
  if (flow.kept < flow.ready) keep_arrived(flow);
  free_sent(flow);
  if (looks_at_all_ || !flow.to_receive.is_empty()) post_receives(flow);
  return has_combined;
}

template <Transport T>
void Engine<T>::signal_abort() {
  transport_.raise_abort();
  if (!parts_.front().block.is_root) return;
  stop_all_flows();
  for (Flow& flow : flows_) advance(flow);
}

template <Transport T>
void Engine<T>::stop_all_flows() {
  if (stopping_) return;
  stopping_ = true;
  for (Flow& flow : flows_) {
    if (flow.ready == flow.end) continue;
    flow.set_ready(flow.ready + 1);
    flow.end = flow.kept = flow.ready;
    flow.stopped = true;
  }
}

template <Transport T>
void Engine<T>::add_progress(std::size_t tree, std::uint64_t nth) {
  if (!reports_progress_) return;
  done_bytes_ += length_of(tree, nth) * message_.element_bytes;
  options_.on_progress(done_bytes_);
}

}  // namespace espalier::engine
