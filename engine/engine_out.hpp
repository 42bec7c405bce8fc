// The part of the engine that sends segments; included only by engine/engine.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/engine.hpp"
#include "planner/plan/send_windows.hpp"

namespace espalier::engine {

template <Transport T>
void Engine<T>::start_sends(Flow& flow) {
  if (looks_at_all_) {
    if (options_.ports != 0 && !flow.combines) return start_oldest_sends();
    if (options_.timetable) return start_scheduled_sends();
  }
  if (most_limited_sends_ != 0 && flow.is_limited()) {
    flow.to_send = {};
    return await_turn(flow);
  }
  if (flow.sends_in_order) {
    flow.to_send = {};
    return start_sends_in_order();
  }
  EdgeRange edges = std::exchange(flow.to_send, {});
  for (bool any = edges.first < edges.last; any;) {
    any = false;
    for (std::size_t edge = edges.first; edge < edges.last; ++edge) {
      any = (has_segment(flow.out[edge], flow.ready) && start_send(flow, edge)) || any;
    }
    // Those that wait for the others may be next.
    if (any && flow.at_once < flow.out.size())
      edges.last = static_cast<std::uint32_t>(flow.out.size());
  }
}

template <Transport T>
void Engine<T>::start_oldest_sends() {
  while (outstanding_[0] < options_.ports) {
    std::optional<std::pair<Flow*, std::size_t>> next;
    double oldest = 1;
    for (Flow& flow : flows_) {
      if (flow.combines) continue;
      for (std::size_t edge = 0; edge < flow.out.size(); ++edge) {
        if (!may_send(flow, edge)) continue;
        const Part& part = parts_[flow.part];
        const std::uint64_t index = part.segment_of(flow.tree, flow.out[edge].started);
        const double turn = turn_of(index, part.count());
        if (turn >= oldest) continue;
        oldest = turn;
        next = {&flow, edge};
      }
    }
    if (!next) return;
    start_send(*next->first, next->second);
  }
}

template <Transport T>
void Engine<T>::start_sends_in_order() {
  const auto is_later = [this](auto part, auto other) { return this->is_later(part, other); };
  while (!in_order_.empty() && (options_.ports == 0 || outstanding_[1] < options_.ports)) {
    Part& part = parts_[in_order_.front()];
    Flow& flow = flows_[part.tree_of(part.next)];
    if (flow.sends_in_order && !start_send(flow, 0)) return;
    std::ranges::pop_heap(in_order_, is_later);
    ++part.next;
    if (part.next < part.count()) {
      std::ranges::push_heap(in_order_, is_later);
    } else {
      in_order_.pop_back();
    }
  }
}

template <Transport T>
std::size_t Engine<T>::most_limited_sends() const {
  if (!routes_) return 0;
  if (options_.ports != 0 || !may_be_crowded_) return options_.ports;
  std::uint64_t bytes = 0;
  for (const Part& part : parts_) {
    if (part.block.is_root) bytes += part.range.grid.message * message_.element_bytes;
  }
  return bytes < options_.crowd.from.value ? 0 : options_.crowd.most;
}

// In a crowd neither those within a host, nor those along high-latency links, which have a pace. Of
// the others only the first one: while a part comes in from a rank, what is said back to it would
// wait behind that rank's own part, and links would idle.
template <Transport T>
std::uint64_t Engine<T>::limited_sends(const Flow& flow) const {
  if (most_limited_sends_ == 0 || !flow.in.empty() || flow.out.empty()) return 0;
  if (options_.ports != 0) return flow.end;
  return flow.out.front().pace_s > 0 || roles_[flow.tree].out.front().is_local ? 0 : 1;
}

template <Transport T>
void Engine<T>::await_turn(Flow& flow) {
  if (flow.awaits_turn || !may_send(flow, 0)) return;
  const Part& part = parts_[flow.part];
  const double turn = turn_of(part.segment_of(flow.tree, flow.out.front().started), part.count());
  flow.awaits_turn = true;
  waiting_.emplace_back(turn, std::uint64_t{*part.block.place} << 32 | flow.tree);
  std::ranges::push_heap(waiting_, std::greater());
}

template <Transport T>
void Engine<T>::start_limited_sends() {
  while (!waiting_.empty() && limited_sends_ < most_limited_sends_) {
    std::ranges::pop_heap(waiting_, std::greater());
    Flow& flow = flows_[static_cast<std::uint32_t>(waiting_.back().second)];
    waiting_.pop_back();
    flow.awaits_turn = false;
    start_send(flow, 0);
    start_sends(flow);  // the next one, limited or not
  }
}

template <Transport T>
bool Engine<T>::is_later(std::uint32_t part, std::uint32_t other) const {
  const auto turn = [this](std::uint32_t index) {
    return std::pair(turn_of(parts_[index].next, parts_[index].count()), index);
  };
  return turn(part) > turn(other);
}

template <Transport T>
void Engine<T>::start_scheduled_sends() {
  SlotOrder& order = options_.timetable->sends;
  const auto is_left = [](const Flow& flow) {
    return std::ranges::any_of(flow.out,
                               [&](const Flow::Out& edge) { return edge.started < flow.end; });
  };
  while (outstanding_[0] + outstanding_[1] < most_sends_ && std::ranges::any_of(flows_, is_left)) {
    const SlotOrder::Edge& edge = order.next([this](auto tree) { return flows_[tree].end; });
    if (!start_send(flows_[edge.tree], edge.edge)) return;
    order.pass();
  }
}

template <Transport T>
bool Engine<T>::may_send(const Flow& flow, std::size_t edge) {
  const Part* part = in_rounds(flow);
  const std::uint64_t sendable =
      part != nullptr ? std::min(flow.ready, part->rounds->sends_due(flow.tree - part->first, edge))
                      : flow.sendable(edge);
  return has_segment(flow.out[edge], sendable) && !is_paced_now(flow.tree, flow.out[edge].due_s);
}

template <Transport T>
double Engine<T>::pace_s(std::size_t tree, std::size_t edge) const {
  if (options_.timetable || roles_[tree].out[edge].uses_ring()) return 0;
  // Exchange edges, which wait for the whole share, have the links to themselves.
  const bool waits = edge >= flows_[tree].at_once;
  const Part& part = part_of(tree);
  const double in_flight =
      waits ? roles_[tree].out[edge].bytes_in_flight : part.block.most_in_flight;
  if (!planner::keeps_pace(in_flight, segment_bytes(part))) return 0;
  return planner::pace(roles_[tree].rate, segment_bytes(part)).value;
}

template <Transport T>
bool Engine<T>::is_paced_now(std::uint32_t tree, double due_s) {
  if (due_s == 0 || due_s <= transport_.now()) return false;
  if (delayed_.empty() || delayed_.back() != tree) delayed_.push_back(tree);
  due_s_ = due_s_ > 0 ? std::min(due_s_, due_s) : due_s;
  return true;
}

template <Transport T>
bool Engine<T>::start_send(Flow& flow, std::size_t edge) {
  if (!may_send(flow, edge)) return false;
  Flow::Out& out = flow.out[edge];
  const bool stop = flow.is_abort_marker(out.started);
  const Segment segment = stop ? Segment{} : transfer_at(flow.tree, out.started);
  std::byte* const buffer = T::kMovesBytes && !stop ? store_->buffer_for(segment) : nullptr;
  const Operation operation = send_of(flow.tree, edge, out.started);
  const int error = transport_.send(operation, segment, buffer, out.is_synchronous(out.started));
  if (error != 0) transport_.fail(error, context() + describe(operation));
  if (out.pace_s > 0) out.due_s = transport_.now() + out.pace_s;
  if (out.started < out.limited) ++limited_sends_;
  ++out.started;
  ++outstanding_[flow.combines ? 1 : 0];
  return true;
}

template <Transport T>
void Engine<T>::note_sent(Flow& flow, std::size_t edge) {
  --outstanding_[flow.combines ? 1 : 0];
  Flow::Out& out = flow.out[edge];
  const std::uint64_t before = out.sent;
  count_complete(out.sent, out.started, send_of(flow.tree, edge, out.sent));
  limited_sends_ -= std::min(out.sent, out.limited) - std::min(before, out.limited);
  flow.note_sent(edge, before, out.sent);
}

template <Transport T>
void Engine<T>::free_sent(Flow& flow) {
  std::uint64_t freed = flow.passed_on = std::min(flow.kept, flow.least_sent);
  for (const Flow::Out& edge : flow.out.subspan(flow.at_once)) freed = std::min(freed, edge.sent);
  if (freed == flow.freed) return;
  flow.to_receive.add_all(flow.in.size());  // their buffers are free
  // Otherwise keep_arrived counts them.
  const bool counts = !flow.is_followed && flow.combines != flow.at_root;
  for (; counts && reports_progress_ && flow.freed < freed; ++flow.freed) {
    if (!flow.is_abort_marker(flow.freed)) add_progress(flow.tree, flow.freed);
  }
  flow.freed = freed;
  if (flow.is_done()) --undone_;
}

}  // namespace espalier::engine
