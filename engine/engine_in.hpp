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
void Engine<T>::load_touched() {
  std::ranges::sort(touched_parts_);
  loading_.swap(touched_parts_);
  for (const std::uint32_t index : loading_) {
    parts_[index].is_touched = false;
    load(parts_[index]);
  }
  loading_.clear();
}

template <Transport T>
void Engine<T>::load(Part& part) {
  if (part.block.after) return load_combined(part);
  while (!stopping_ && part.next < part.count() && !store_->failed()) {
    const std::size_t tree = part.tree_of(part.next);
    Flow& flow = flows_[tree];
    if (!may_load(part, flow, part.next)) return;
    store_->load(segment_at(tree, flow.ready));
    if (store_->failed()) break;  // move_on handles it
    ++part.next;
    send_loaded(flow);
  }
}

// Each tree by itself: otherwise all would wait for the latest of those that are combined.
template <Transport T>
void Engine<T>::load_combined(Part& part) {
  for (std::size_t tree = part.first; tree < part.last; ++tree) {
    Flow& flow = flows_[tree];
    while (flow.ready < flow.end) {
      const std::uint64_t index = part.segment_of(tree, flow.ready);
      if (!may_load(part, flow, index) || !is_combined(part, index)) break;
      send_loaded(flow);
    }
  }
}

// index: of the tree's next segment.
template <Transport T>
bool Engine<T>::may_load(Part& part, Flow& flow, std::uint64_t index) {
  free_sent(flow);
  return flow.ready - flow.freed < store_->segments_per_tree() && !is_too_far_ahead(part, index);
}

template <Transport T>
void Engine<T>::send_loaded(Flow& flow) {
  flow.set_ready(flow.ready + 1);
  flow.kept = flow.ready;
  start_sends(flow);
}

// On the root, which keeps the trees at their shares: otherwise a tree that can exceed its rate
// would take bandwidth from the others, finish early, and leave the others to finish at their own
// rates.
template <Transport T>
bool Engine<T>::is_too_far_ahead(Part& part, std::uint64_t index) {
  if (!is_beyond(index, part.oldest, part.lookahead)) return false;
  if (part.oldest < part.count()) {
    free_sent(flows_[part.tree_of(part.oldest)]);
    if (!has_finished_oldest(part)) return true;
  }
  part.oldest = UINT64_MAX;
  for (std::size_t tree = part.first; tree < part.last; ++tree) {
    Flow& flow = flows_[tree];
    free_sent(flow);
    if (flow.passed_on < flow.end) {
      part.oldest = std::min(part.oldest, part.segment_of(tree, flow.passed_on));
    }
  }
  touch_each(part.too_far);
  return is_beyond(index, part.oldest, part.lookahead);
}

template <Transport T>
bool Engine<T>::has_finished_oldest(const Part& part) const {
  return part.oldest >= part.count() ||
         flows_[part.tree_of(part.oldest)].passed_on > part.nth_of(part.oldest);
}

// Nothing is copied before the ranks' calls are known to match.
template <Transport T>
bool Engine<T>::is_combined(const Part& part, std::uint64_t index) {
  if (!transport_.is_checked()) return false;
  const Part& before = parts_[*part.block.after];
  const std::size_t tree = before.tree_of(index);
  if (before.nth_of(index) < flows_[tree].ready) return true;
  wait_for(tree, part.tree_of(index));
  return false;
}

template <Transport T>
bool Engine<T>::is_free(const Segment& segment) {
  const Part& before = parts_[*part_of(segment.tree).block.after];
  const std::size_t tree = before.tree_of(segment.index);
  const std::uint64_t nth = before.nth_of(segment.index);
  if (nth < flows_[tree].freed ||
      store_->buffer_for(segment_at(tree, nth)) != store_->buffer_for(segment)) {
    return true;
  }
  wait_for(tree, segment.tree);
  return false;
}

template <Transport T>
void Engine<T>::note_arrived(Flow& flow, std::size_t edge) {
  Flow::In& in = flow.in[edge];
  count_complete(in.here, in.posted, receive_of(flow.tree, edge, in.here));
  flow.to_receive.add(edge);
  if (!flow.combines) flow.set_ready(in.here);
}

template <Transport T>
bool Engine<T>::combine_one(Flow& flow) {
  if (flow.ready == flow.end || flow.in[flow.combined].here <= flow.ready) return false;
  if constexpr (T::kMovesBytes) store_->combine(segment_at(flow.tree, flow.ready), flow.combined);
  flow.to_receive.add(flow.combined);
  if (++flow.combined < flow.in.size()) return true;
  flow.combined = 0;
  flow.set_ready(flow.ready + 1);
  return true;
}

// After the sends have begun, because stores may take long.
template <Transport T>
void Engine<T>::keep_arrived(Flow& flow) {
  const bool counts = !flow.is_followed && (!flow.combines || flow.at_root);
  for (; flow.kept < flow.ready; ++flow.kept) {
    if (flow.is_abort_marker(flow.kept)) continue;
    if constexpr (T::kMovesBytes) {
      if (!flow.combines) store_->arrived(segment_at(flow.tree, flow.kept));
    }
    if (counts) add_progress(flow.tree, flow.kept);
  }
}

template <Transport T>
void Engine<T>::post_receives(Flow& flow) {
  if (looks_at_all_ && options_.timetable) return post_scheduled_receives();
  const EdgeRange edges = std::exchange(flow.to_receive, {});
  for (std::size_t edge = edges.first; edge < edges.last; ++edge) {
    std::uint64_t end = flow.end;
    if (const Part* part = in_rounds(flow)) {
      end = std::min(end, part->rounds->receives_due(flow.tree - part->first, edge));
    }
    while (flow.in[edge].posted < end && post_receive(flow, edge)) {
    }
  }
}

template <Transport T>
void Engine<T>::post_scheduled_receives() {
  SlotOrder& order = options_.timetable->receives;
  std::uint64_t waiting = 0;
  for (const Flow& flow : flows_) {
    for (const Flow::In& in : flow.in) waiting += in.posted - in.here;
  }
  const auto is_left = [](const Flow& flow) {
    return std::ranges::any_of(flow.in, [&](const Flow::In& in) { return in.posted < flow.end; });
  };
  for (; waiting < most_receives_ && std::ranges::any_of(flows_, is_left); ++waiting) {
    const SlotOrder::Edge& edge = order.next([this](auto tree) { return flows_[tree].end; });
    if (!post_receive(flows_[edge.tree], edge.edge)) return;
    order.pass();
  }
}

template <Transport T>
bool Engine<T>::post_receive(Flow& flow, std::size_t edge) {
  Flow::In& in = flow.in[edge];
  if (!has_buffer(in, flow.reusable(edge))) return false;
  if (is_at_risk(flow.tree, edge)) return false;
  if (flow.at_root) {
    Part& part = parts_[flow.part];
    if (is_too_far_ahead(part, part.segment_of(flow.tree, in.posted))) {
      part.too_far.push_back(flow.tree);
      return false;
    }
  }
  if (flow.is_follower && !is_free(segment_at(flow.tree, in.posted))) return false;
  const Segment segment = transfer_at(flow.tree, in.posted);
  std::byte* const buffer = T::kMovesBytes ? store_->arrival_buffer_for(segment, edge) : nullptr;
  const Operation operation = receive_of(flow.tree, edge, in.posted);
  const int error = transport_.receive(operation, segment, buffer);
  if (error != 0) transport_.fail(error, context() + describe(operation));
  ++in.posted;
  return true;
}

template <Transport T>
bool Engine<T>::is_at_risk(std::size_t tree, std::size_t edge) const {
  if (transport_.is_checked()) return false;
  const Risk risk = roles_[tree].in[edge].risk;
  if (message_.is_risky || risk == Risk::kAll) return true;
  return risk == Risk::kShortSegments &&
         length_of(tree, flows_[tree].in[edge].posted) < part_of(tree).range.grid.segment;
}

template <Transport T>
void Engine<T>::check_received(const Completion& completion) {
  const Operation& of = completion.operation;
  const std::uint64_t due = length_of(of.tree, of.nth);
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
