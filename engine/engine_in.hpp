// The part of the engine by which segments come to a rank: loaded, received and combined; included
// only by engine/engine.hpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "engine/engine.hpp"
#include "support/errors.hpp"

namespace espalier::engine {

template <Transport T>
void Engine<T>::load() {
  std::ranges::sort(touched_parts_);
  for (const std::size_t index : std::exchange(touched_parts_, {})) {
    parts_[index].is_touched = false;
    load(parts_[index]);
  }
}

template <Transport T>
void Engine<T>::load(Part& part) {
  while (!stopping_ && part.next < part.count() && !store_->failed()) {
    const std::size_t tree = part.tree_of(part.next);
    Flow& flow = flows_[tree];
    free_sent(tree);
    if (flow.ready - flow.freed >= store_->segments_per_tree()) return;
    if (is_too_far_ahead(part, part.next)) return;
    if (part.block.after) {
      if (!is_combined(part, part.next)) return;
    } else {
      store_->load(segment_at(tree, flow.ready));
      if (store_->failed()) break;  // move_on handles it
    }
    flow.kept = ++flow.ready;
    ++part.next;
    start_sends(tree);
  }
}

// On the root, which keeps the trees at their shares: otherwise a tree that can exceed its rate
// would take bandwidth from the others, finish early, and leave the others to finish at their own
// rates.
template <Transport T>
bool Engine<T>::is_too_far_ahead(Part& part, std::uint64_t index) {
  if (!is_beyond(index, part.oldest, part.lookahead)) return false;
  part.oldest = UINT64_MAX;
  for (std::size_t tree = part.first; tree < part.last; ++tree) {
    free_sent(tree);
    const Flow& flow = flows_[tree];
    if (flow.passed_on < flow.end) {
      part.oldest = std::min(part.oldest, part.segment_of(tree, flow.passed_on));
    }
  }
  return is_beyond(index, part.oldest, part.lookahead);
}

// Nothing is copied before the ranks' calls are known to match.
template <Transport T>
bool Engine<T>::is_combined(const Part& part, std::uint64_t index) const {
  const Part& before = parts_[*part.block.after];
  return transport_.is_checked() && before.nth_of(index) < flows_[before.tree_of(index)].ready;
}

template <Transport T>
bool Engine<T>::is_free(const Part& part, const Segment& segment) const {
  if (!part.block.after) return true;
  const Part& before = parts_[*part.block.after];
  const std::size_t tree = before.tree_of(segment.index);
  const std::uint64_t nth = before.nth_of(segment.index);
  return nth < flows_[tree].freed ||
         store_->buffer_for(segment_at(tree, nth)) != store_->buffer_for(segment);
}

template <Transport T>
void Engine<T>::note_arrivals(std::size_t tree) {
  Flow& flow = flows_[tree];
  for (std::size_t edge = 0; edge < flow.in.size(); ++edge) {
    auto& [posted, here] = flow.in[edge];
    while (here < posted && transport_.is_complete(receive_of(tree, edge, here))) ++here;
    if (!roles_[tree].combines) flow.ready = here;
  }
}

template <Transport T>
bool Engine<T>::combine_one(std::size_t tree) {
  Flow& flow = flows_[tree];
  if (flow.ready == flow.end || flow.in[flow.combined].here <= flow.ready) return false;
  store_->combine(segment_at(tree, flow.ready), flow.combined);
  if (++flow.combined < flow.in.size()) return true;
  flow.combined = 0;
  ++flow.ready;
  return true;
}

// After the sends have begun, because stores may take long.
template <Transport T>
void Engine<T>::keep_arrived(std::size_t tree) {
  const Part& part = part_of(tree);
  Flow& flow = flows_[tree];
  for (; flow.kept < flow.ready; ++flow.kept) {
    if (flow.is_abort_marker(flow.kept)) continue;
    const Segment segment = segment_at(tree, flow.kept);
    if (!part.combines) store_->arrived(segment);
    if (part.is_final && (!part.combines || part.block.is_root)) add_progress(segment);
  }
}

template <Transport T>
void Engine<T>::post_receives(std::size_t tree) {
  if (options_.timetable) return post_scheduled_receives();
  const Part& part = part_of(tree);
  Flow& flow = flows_[tree];
  for (std::size_t edge = 0; edge < flow.in.size(); ++edge) {
    const std::uint64_t end =
        part.rounds ? std::min(flow.end, part.rounds->receives_due(tree - part.first, edge))
                    : flow.end;
    while (flow.in[edge].posted < end && post_receive(tree, edge)) {
    }
  }
}

template <Transport T>
void Engine<T>::post_scheduled_receives() {
  if (parts_.front().block.is_root) return;
  SlotOrder& order = options_.timetable->receives;
  std::uint64_t waiting = 0;
  for (const Flow& flow : flows_) waiting += flow.in[0].posted - flow.in[0].here;
  const auto is_left = [](const Flow& flow) { return flow.in[0].posted < flow.end; };
  for (; waiting < most_receives_ && std::ranges::any_of(flows_, is_left); ++waiting) {
    const SlotOrder::Edge& edge = order.next([this](auto tree) { return flows_[tree].end; });
    if (!post_receive(edge.tree, 0)) return;
    order.pass();
  }
}

template <Transport T>
bool Engine<T>::post_receive(std::size_t tree, std::size_t edge) {
  Part& part = part_of(tree);
  Flow& flow = flows_[tree];
  Flow::In& in = flow.in[edge];
  if (!has_buffer(in, transport_.windows()[tree].in[edge],
                  flow.reusable(edge, store_->sends_from(tree, edge)),
                  store_->capacity(tree, edge))) {
    return false;
  }
  const Segment segment = segment_at(tree, in.posted);
  if (is_at_risk(roles_[tree].in[edge], segment)) return false;
  if (part.block.is_root && is_too_far_ahead(part, segment.index)) return false;
  if (!is_free(part, segment)) return false;
  const Operation operation = receive_of(tree, edge, in.posted);
  const int error =
      transport_.receive(operation, segment, store_->arrival_buffer_for(segment, edge));
  if (error != 0) transport_.fail(error, context() + describe(operation));
  ++in.posted;
  return true;
}

template <Transport T>
bool Engine<T>::is_at_risk(const Edge& edge, const Segment& segment) const {
  const bool is_short = segment.length < part_of(segment.tree).range.grid.segment;
  const bool any = message_.is_risky || edge.risk == Risk::kAll ||
                   (edge.risk == Risk::kShortSegments && is_short);
  return any && !transport_.is_checked();
}

template <Transport T>
void Engine<T>::check_received(const Completion& completion) {
  const Operation& of = completion.operation;
  const std::uint64_t due = segment_at(of.tree, of.nth).length;
  if (completion.length == due) return;
  if (completion.length == 0 && message_.stoppable) return stop_flow(of.tree, of.nth);
  transport_.await_check();
  const std::string unit = combines_any_ ? "elements" : "bytes";
  throw InputError(context() + describe(of) +
                   fmt::format(": {} arrived, expected {}",
                               completion.length ? fmt::format("{} {}", *completion.length, unit)
                                                 : "a part of an element",
                               due));
}

template <Transport T>
void Engine<T>::stop_flow(std::size_t tree, std::uint64_t nth) {
  Flow& flow = flows_[tree];
  Flow::In& in = flow.in[0];
  for (std::uint64_t later = nth + 1; later < in.posted; ++later) {
    transport_.cancel(receive_of(tree, 0, later));
  }
  in.posted = flow.end = nth + 1;
  flow.stopped = true;
}

}  // namespace espalier::engine
