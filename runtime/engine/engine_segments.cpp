// The part of the engine that sends and receives segments.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/plan/send_windows.hpp"
#include "runtime/engine/engine_run.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

void Engine::Run::inject() {
  const std::uint64_t segments = grid_.count();
  while (!stopping_ && injected_ < segments && !store_->failed()) {
    const std::size_t tree = assignment_.tree_of(injected_);
    Flow& flow = flows_[tree];
    free_sent(tree);
    if (flow.here - flow.freed >= store_->segments_per_tree() || is_too_far_ahead()) return;
    if (!store_->is_ready(segment_at(tree, flow.here))) return;
    store_->load(segment_at(tree, flow.here));
    if (store_->failed()) break;  // move_on handles it
    ++flow.here;
    ++injected_;
    start_sends(tree);
  }
}

bool Engine::Run::is_too_far_ahead() {
  if (injected_ - oldest_ < lookahead_) return false;
  oldest_ = injected_;
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    free_sent(tree);
    const Flow& flow = flows_[tree];
    if (flow.passed_on < flow.here) {
      oldest_ = std::min(oldest_, assignment_.segment_of(tree, flow.passed_on));
    }
  }
  return injected_ - oldest_ >= lookahead_;
}

void Engine::Run::stop_all_flows() {
  if (stopping_) return;
  stopping_ = true;
  for (Flow& flow : flows_) {
    if (flow.here == flow.end) continue;
    flow.end = ++flow.here;
    flow.stopped = true;
  }
}

void Engine::Run::start_sends(std::size_t tree) {
  if (options_.ports != 0) return start_oldest_sends();
  if (options_.timetable) return start_scheduled_sends();
  bool any = true;
  while (any) {
    any = false;
    for (std::size_t child = 0; child < flows_[tree].children.size(); ++child) {
      any = start_send(tree, child) || any;
    }
  }
}

void Engine::Run::start_oldest_sends() {
  while (outstanding_ < options_.ports) {
    std::optional<std::pair<std::size_t, std::size_t>> next;
    std::uint64_t oldest = UINT64_MAX;
    for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
      for (std::size_t child = 0; child < flows_[tree].children.size(); ++child) {
        if (!may_send(tree, child)) continue;
        const std::uint64_t segment =
            assignment_.segment_of(tree, flows_[tree].children[child].started);
        if (segment >= oldest) continue;
        oldest = segment;
        next = {tree, child};
      }
    }
    if (!next) return;
    start_send(next->first, next->second);
  }
}

void Engine::Run::start_scheduled_sends() {
  SlotOrder& order = options_.timetable->sends;
  const auto is_left = [](const Flow& flow) {
    return std::ranges::any_of(flow.children,
                               [&](const Flow::Child& child) { return child.started < flow.end; });
  };
  while (outstanding_ < most_sends_ && std::ranges::any_of(flows_, is_left)) {
    const SlotOrder::Edge& edge = order.next([this](auto tree) { return flows_[tree].end; });
    if (!start_send(edge.tree, edge.child)) return;
    order.pass();
  }
}

bool Engine::Run::may_send(std::size_t tree, std::size_t child) {
  note_sent(tree, child);
  const std::uint64_t started = flows_[tree].children[child].started;
  const std::uint64_t sent = flows_[tree].children[child].sent;
  if (started >= sendable(tree, child)) return false;
  if (started - sent >= requests_.windows()[tree].children[child]) return false;
  return !pacing_.holds(flows_[tree].children[child].due_s);
}

bool Engine::Run::keeps_pace(std::size_t tree, std::size_t child) const {
  if (options_.timetable) return false;
  // Children on exchange edges, which wait for the whole share, have the links to themselves.
  const bool waits = child >= flows_[tree].at_once;
  const double in_flight = waits ? roles_[tree].bytes_to_child[child] : options_.most_in_flight;
  return planner::keeps_pace(in_flight, {grid_.segment});
}

bool Engine::Run::start_send(std::size_t tree, std::size_t child) {
  if (!may_send(tree, child)) return false;
  Flow& flow = flows_[tree];
  std::uint64_t& started = flow.children[child].started;
  const bool stop = flow.is_abort_marker(started);
  const Segment segment = stop ? Segment{} : segment_at(tree, started);
  const auto send = options_.timetable ? MPI_Issend : MPI_Isend;
  const int code = send(stop ? nullptr : store_->buffer_for(segment),
                        static_cast<int>(segment.bytes), MPI_BYTE, roles_[tree].children[child],
                        static_cast<int>(tree), comm_, &requests_.send(tree, child, started));
  if (code != MPI_SUCCESS) {
    throw MpiError(code, context() + names_.sending(tree, child, started));
  }
  if (options_.transfers != nullptr && !stop) {
    options_.transfers->begun(requests_.place_of(requests_.send(tree, child, started)), segment,
                              roles_[tree].children[child], true);
  }
  if (keeps_pace(tree, child)) {
    flow.children[child].due_s =
        MPI_Wtime() + planner::pace(roles_[tree].rate, {grid_.segment}).value;
  }
  ++started;
  ++outstanding_;
  return true;
}

std::uint64_t Engine::Run::sendable(std::size_t tree, std::size_t child) const {
  const Flow& flow = flows_[tree];
  if (rounds_) return std::min(flow.here, rounds_->sends_due(tree, child));
  return child < flow.at_once || flow.is_passed_on() ? flow.here : 0;
}

void Engine::Run::note_sent(std::size_t tree, std::size_t child) {
  const std::uint64_t started = flows_[tree].children[child].started;
  std::uint64_t& sent = flows_[tree].children[child].sent;
  while (sent < started && requests_.send(tree, child, sent) == MPI_REQUEST_NULL) ++sent;
}

void Engine::Run::keep_arrived(std::size_t tree) {
  Flow& flow = flows_[tree];
  for (; flow.kept < flow.here; ++flow.kept) {
    if (flow.is_abort_marker(flow.kept)) continue;
    const Segment segment = segment_at(tree, flow.kept);
    store_->arrived(segment);
    add_progress(segment.bytes);
  }
}

void Engine::Run::free_sent(std::size_t tree) {
  Flow& flow = flows_[tree];
  std::uint64_t freed = is_source() ? flow.here : flow.kept;
  if (roles_[tree].to_ring) freed = std::min(freed, flow.published);
  flow.passed_on = freed;
  for (std::size_t child = 0; child < flow.children.size(); ++child) {
    note_sent(tree, child);
    freed = std::min(freed, flow.children[child].sent);
    if (child < flow.at_once) flow.passed_on = freed;
  }
  if (!is_source()) {
    flow.freed = freed;
    return;
  }
  for (; flow.freed < freed; ++flow.freed) {
    if (!flow.is_abort_marker(flow.freed)) add_progress(segment_at(tree, flow.freed).bytes);
  }
}

void Engine::Run::post_receives(std::size_t tree) {
  if (options_.timetable) return post_scheduled_receives();
  if (roles_[tree].from_ring) return;
  const Flow& flow = flows_[tree];
  const std::uint64_t end = rounds_ ? std::min(flow.end, rounds_->receives_due(tree)) : flow.end;
  while (flow.posted < end && post_receive(tree)) {
  }
}

void Engine::Run::post_scheduled_receives() {
  SlotOrder& order = options_.timetable->receives;
  std::uint64_t waiting = 0;
  for (const Flow& flow : flows_) waiting += flow.posted - flow.here;
  const auto is_left = [](const Flow& flow) { return flow.posted < flow.end; };
  for (; waiting < most_receives_ && std::ranges::any_of(flows_, is_left); ++waiting) {
    const SlotOrder::Edge& edge = order.next([this](auto tree) { return flows_[tree].end; });
    if (!post_receive(edge.tree)) return;
    order.pass();
  }
}

bool Engine::Run::post_receive(std::size_t tree) {
  Flow& flow = flows_[tree];
  if (flow.posted - flow.here >= requests_.windows()[tree].parent ||
      flow.posted - flow.freed >= store_->segments_per_tree()) {
    return false;
  }
  const Segment segment = segment_at(tree, flow.posted);
  if (is_at_risk(segment) || !store_->is_free(segment)) return false;
  const int code = MPI_Irecv(store_->buffer_for(segment), static_cast<int>(segment.bytes), MPI_BYTE,
                             roles_[tree].parent, static_cast<int>(tree), comm_,
                             &requests_.receive(tree, flow.posted));
  if (code != MPI_SUCCESS) throw MpiError(code, context() + names_.receiving(tree, flow.posted));
  if (options_.transfers != nullptr) {
    options_.transfers->begun(requests_.place_of(requests_.receive(tree, flow.posted)), segment,
                              roles_[tree].parent, false);
  }
  ++flow.posted;
  return true;
}

bool Engine::Run::is_at_risk(const Segment& segment) {
  const bool varies =
      roles_[segment.tree].parent_is_local ? options_.segments_vary : options_.remote_segments_vary;
  return requests_.size_check() != MPI_REQUEST_NULL && (varies || segment.bytes < grid_.segment);
}

void Engine::Run::on_received(std::size_t tree, std::uint64_t slot, const MPI_Status& status) {
  const std::uint64_t nth = names_.received_in(tree, slot);
  int bytes = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  if (bytes == 0) {
    stop_flow(tree, nth);
  } else if (static_cast<std::size_t>(bytes) != segment_at(tree, nth).bytes) {
    await_size_check();
    throw InputError(
        context() + names_.receiving(tree, nth) +
        fmt::format(": {} bytes arrived, expected {}", bytes, segment_at(tree, nth).bytes));
  }
}

void Engine::Run::stop_flow(std::size_t tree, std::uint64_t nth) {
  Flow& flow = flows_[tree];
  for (std::uint64_t later = nth + 1; later < flow.posted; ++later) {
    check(MPI_Cancel(&requests_.receive(tree, later)), "MPI_Cancel");
    check(MPI_Wait(&requests_.receive(tree, later), MPI_STATUS_IGNORE), "MPI_Wait");
  }
  flow.posted = flow.end = nth + 1;
  flow.stopped = true;
}

}  // namespace espalier::runtime
