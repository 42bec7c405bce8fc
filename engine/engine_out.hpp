// The part of the engine that sends segments; included only by engine/engine.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <tuple>
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
  if (options_.ports != 0) return routes_ ? options_.ports : 0;
  if (!may_be_crowded_ || options_.timetable || has_rounds_ || message_.stoppable) return 0;
  std::uint64_t bytes = 0;
  for (std::size_t tree = 0; tree < roles_.size(); ++tree) {
    const TreeRole& role = roles_[tree];
    if (!role.in.empty()) continue;
    const SegmentGrid& grid = part_of(tree).range.grid;
    const std::uint64_t carried = std::min(segments_of(tree) * grid.segment, grid.message);
    bytes += carried * role.out.size() * message_.element_bytes;
  }
  return bytes < options_.crowd.from.value ? 0 : options_.crowd.most;
}

// In a crowd neither those within a host, nor those along high-latency links, which have a pace. Of
// the others only the first one: while segments come in from a rank, what is said back to it would
// wait behind that rank's own, and links would idle.
template <Transport T>
std::uint64_t Engine<T>::limited_sends(const Flow& flow, std::size_t edge) const {
  if (options_.ports != 0) return flow.end;
  const Edge& of = roles_[flow.tree].out[edge];
  const bool waits = !of.is_local && !of.uses_ring() && flow.out[edge].pace_s == 0;
  return waits && edge < flow.at_once ? 1 : 0;
}

template <Transport T>
void Engine<T>::await_turn(Flow& flow, std::size_t edge) {
  Flow::Out& out = flow.out[edge];
  if (std::exchange(out.awaits_turn, true)) return;
  const Part& part = parts_[flow.part];
  waiting_.push_back({turn_of(part.segment_of(flow.tree, out.started), part.count()),
                      roles_[flow.tree].out[edge].place, flow.tree,
                      static_cast<std::uint32_t>(edge)});
  std::ranges::push_heap(waiting_, std::greater());
}

template <Transport T>
void Engine<T>::start_limited_sends() {
  start_sends_in_order();
  while (!waiting_.empty() && limited_sends_ < most_limited_sends_) {
    std::ranges::pop_heap(waiting_, std::greater());
    const Waiting next = waiting_.back();
    waiting_.pop_back();
    Flow& flow = flows_[next.tree];
    flow.out[next.edge].awaits_turn = false;
    if (!may_send(flow, next.edge)) continue;
    begin_send(flow, next.edge);
    flow.to_send.add_all(flow.out.size());  // edges that wait for the others may be next
    start_sends(flow);                      // the next ones, limited or not
  }
}

// In a crowd; otherwise blocks have their order.
template <Transport T>
std::uint32_t Engine<T>::place_of_next(const Part& part) const {
  if (most_limited_sends_ == 0) return 0;
  const std::vector<Edge>& out = roles_[part.tree_of(part.next)].out;
  return out.empty() ? 0 : out.front().place;
}

template <Transport T>
bool Engine<T>::is_later(std::uint32_t part, std::uint32_t other) const {
  const auto turn = [this](std::uint32_t index) {
    const Part& of = parts_[index];
    return std::tuple(turn_of(of.next, of.count()), place_of_next(of), index);
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
  return has_segment(flow.out[edge], sendable) && !is_paced_now(flow, edge);
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

// Of routed segments those to or from hosts nearby take all of a port while they last, so that
// distant ones beside them get next to nothing of it: they do not all begin at once.
template <Transport T>
double Engine<T>::first_due_s(const Flow& flow, std::size_t edge) const {
  const double pace_s = flow.out[edge].pace_s;
  if (pace_s == 0 || !flow.in.empty() || !parts_[flow.part].block.routes) return 0;
  return transport_.now() + planner::stagger(roles_[flow.tree].number) * pace_s;
}

// A rank that passes segments on sends the rest at once when it has all of a tree's: what came over
// a long link in the last window would otherwise leave pace by pace, with the links idle.
template <Transport T>
bool Engine<T>::is_paced_now(const Flow& flow, std::size_t edge) {
  const double due_s = flow.out[edge].due_s;
  if (due_s == 0 || due_s <= transport_.now()) return false;
  if (flow.ready == flow.end && !flow.in.empty()) return false;
  if (delayed_.empty() || delayed_.back() != flow.tree) delayed_.push_back(flow.tree);
  due_s_ = due_s_ > 0 ? std::min(due_s_, due_s) : due_s;
  return true;
}

template <Transport T>
bool Engine<T>::start_send(Flow& flow, std::size_t edge) {
  if (!may_send(flow, edge)) return false;
  const Flow::Out& out = flow.out[edge];
  if (out.started < out.limited) {
    if (!flow.sends_in_order) {
      await_turn(flow, edge);
      return false;
    }
    if (limited_sends_ >= most_limited_sends_) return false;
  }
  begin_send(flow, edge);
  return true;
}

template <Transport T>
void Engine<T>::begin_send(Flow& flow, std::size_t edge) {
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
