#include "runtime/engine/engine.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "runtime/engine/engine_run.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

// A polling source uses processor time but has little to do, because its children's MPI libraries
// make the copies. The other ranks have copies to make; if they doze, processors stay idle. Below
// this size a doze takes longer than the event that it waits for.
constexpr std::uint64_t kWorthDozing = std::uint64_t{1} << 20;

}  // namespace

Outcome Engine::Run::run(const SegmentGrid& grid, SegmentStore& store, bool stoppable,
                         Timeout end_timeout) {
  try {
    begin(grid, store, stoppable);
    while (!is_done()) {
      if (has_to_poll()) {
        poll();
      } else {
        const auto completions = requests_.wait_for_some(waiting_, timeout_);
        if (!completions) give_up();
        for (const auto& completion : *completions) handle(completion);
      }
      move_on();
    }
    return stoppable && abort_signal_.finish(end_timeout) ? Outcome::kStopped : Outcome::kComplete;
  } catch (...) {
    if (requests_.size_check() != MPI_REQUEST_NULL) sizes_->leave_to_mpi();
    requests_.abandon();
    throw;
  }
}

void Engine::Run::begin(const SegmentGrid& grid, SegmentStore& store, bool stoppable) {
  grid_ = grid;
  store_ = &store;
  stoppable_ = stoppable;
  const bool dozes = options_.source_dozes && is_source() && grid.message >= kWorthDozing;
  waiting_ = dozes ? RequestTable::Waiting::kDozing : RequestTable::Waiting::kBusy;
  injected_ = oldest_ = done_bytes_ = 0;
  outstanding_ = 0;
  stopping_ = false;
  set_windows({grid.segment});
  if (rounds_) rounds_->reset();
  if (options_.timetable) {
    options_.timetable->sends.reset();
    options_.timetable->receives.reset();
  }
  if (options_.transfers != nullptr) {
    options_.transfers->begin_run(requests_.size() + ring_places());
  }
  if (options_.check_sizes) {
    sizes_.emplace(grid_.message);
    sizes_->begin(comm_, requests_.size_check());
  }
  assignment_.end_at(grid_.count(), {grid_.segment});
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    Flow& flow = flows_[tree];
    flow = Flow{};
    flow.end = assignment_.count(tree, grid_.count());
    flow.children.resize(roles_[tree].children.size());
    flow.at_once = flow.children.size();
    // Exchange edges can wait for the whole share only if the store holds all of it.
    if (store.segments_per_tree() >= flow.end && !options_.timetable) {
      flow.at_once -= roles_[tree].exchanges;
    }
  }
  for (std::size_t tree = 0; tree < flows_.size() && !is_source(); ++tree) post_receives(tree);
  abort_signal_.begin(stoppable_);
  timeout_.begin();
  move_on();
}

void Engine::Run::set_windows(Bytes segment) {
  std::vector<TreeWindows> windows =
      windows_down(roles_, options_.receives_in_flight, options_.sends_in_flight, segment,
                   options_.timetable || options_.costs.asks(segment));
  lookahead_ = lookahead_over(windows, options_.sends_in_flight);
  if (options_.timetable) set_scheduled_windows(segment);
  if (std::ranges::equal(windows, requests_.windows())) return;
  requests_ = RequestTable(roles_, std::move(windows));
}

// Over all trees the windows that otherwise apply to one child or one parent, plus the segments in
// flight. No more are needed: under a schedule, high-latency and low-latency segments do not share
// a port.
void Engine::Run::set_scheduled_windows(Bytes segment) {
  const auto in_flight = [segment](double bytes) {
    return planner::segments_in_flight(bytes, segment, true);
  };
  most_sends_ = options_.sends_in_flight;
  most_receives_ = options_.receives_in_flight;
  for (const TreeRole& role : roles_) {
    most_receives_ += in_flight(role.bytes_from_parent);
    for (const double bytes : role.bytes_to_child) most_sends_ += in_flight(bytes);
  }
  lookahead_ = 2 * options_.timetable->segments + most_sends_;
}

bool Engine::Run::is_done() {
  return requests_.size_check() == MPI_REQUEST_NULL && flows_are_done() && !store_->has_work();
}

bool Engine::Run::has_to_poll() const {
  return store_->has_work() || pacing_.any() || awaits_rings();
}

void Engine::Run::poll() {
  const bool moved = move_rings();
  if (moved && has_only_rings() && !store_->has_work()) {
    return timeout_.begin();  // a call of MPI may yield the processor
  }
  const auto completions = requests_.test_some();
  for (const auto& completion : completions) handle(completion);
  store_->work();
  if (moved || !completions.empty() || store_->has_work()) return timeout_.begin();
  if (awaits_rings()) {
    if (pacing_.any()) timeout_.begin();
    if (timeout_.is_over()) give_up();
    ::sched_yield();
  } else {
    pacing_.doze(!is_source());
  }
}

bool Engine::Run::flows_are_done() const {
  return std::all_of(flows_.begin(), flows_.end(), [](const Flow& flow) { return flow.is_done(); });
}

void Engine::Run::handle(const RequestTable::Completion& completion) {
  if (completion.error != MPI_SUCCESS) fail(completion);
  if (options_.transfers != nullptr) options_.transfers->ended(completion.place);
  switch (completion.entry.kind) {
    case Kind::kReceive:
      on_received(completion.entry.tree, completion.entry.slot, *completion.status);
      break;
    case Kind::kSizeCheck:
      sizes_->judge(rank_);
      break;
    case Kind::kAbort:
      if (is_source()) {
        abort_signal_.note_received();
        stop_all_flows();
      }
      break;
    case Kind::kSend:
      --outstanding_;  // the null request marks the send as complete
      break;
  }
}

void Engine::Run::move_on() {
  pacing_.forget();
  do {
    if (is_source()) inject();
    for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
      if (!flows_[tree].is_done()) advance(tree);
    }
    if (is_source()) inject();  // completed sends have freed buffers
    if (stoppable_ && !abort_signal_.is_raised() && store_->failed()) signal_abort();
  } while (begin_next_round());
}

bool Engine::Run::begin_next_round() {
  if (!rounds_ || flows_are_done()) return false;
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    const Flow& flow = flows_[tree];
    if (!is_source() && flow.here < std::min(flow.end, rounds_->receives_due(tree))) return false;
    for (std::size_t child = 0; child < flow.children.size(); ++child) {
      const std::uint64_t due = std::min(flow.end, rounds_->sends_due(tree, child));
      if (flow.children[child].sent < due) return false;
    }
  }
  rounds_->next();
  return true;
}

void Engine::Run::advance(std::size_t tree) {
  Flow& flow = flows_[tree];
  if (!is_source()) {
    while (flow.here < flow.posted && requests_.receive(tree, flow.here) == MPI_REQUEST_NULL) {
      ++flow.here;
    }
  }
  start_sends(tree);
  if (!is_source()) keep_arrived(tree);
  free_sent(tree);
  if (!is_source()) post_receives(tree);
}

void Engine::Run::signal_abort() {
  abort_signal_.raise();
  if (!is_source()) return;
  stop_all_flows();
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) advance(tree);
}

void Engine::Run::await_size_check() {
  if (!options_.check_sizes) return;
  timeout_.wait(requests_.size_check(), RequestNames::kComparingSizes);
  sizes_->judge(rank_);
}

void Engine::Run::fail(const RequestTable::Completion& completion) {
  if (completion.entry.kind == Kind::kReceive) await_size_check();
  throw MpiError(completion.error, context() + names_.describe(completion.entry) +
                                       others_of(requests_.outstanding(), names_.naming()));
}

void Engine::Run::give_up() {
  std::vector<std::string> waits = ring_waits();
  if (std::string others = waiting_for(requests_.outstanding(), names_.naming()); !others.empty()) {
    waits.push_back(std::move(others));
  }
  throw TimedOut(
      fmt::format("rank {}: {}; {}", rank_, timeout_.complaint(), fmt::join(waits, ", ")));
}

void Engine::Run::add_progress(std::uint64_t bytes) {
  done_bytes_ += bytes;
  if (options_.on_progress) options_.on_progress(done_bytes_);
}

Engine::Engine(MPI_Comm comm, int source, std::vector<TreeRole> roles,
               planner::SegmentAssignment assignment, EngineOptions options)
    : run_(std::make_unique<Run>(comm, rank_in(comm), source, std::move(roles),
                                 std::move(assignment), std::move(options))) {}

Engine::~Engine() = default;

Outcome Engine::run(const SegmentGrid& grid, SegmentStore& store, bool stoppable,
                    Timeout end_timeout) {
  return run_->run(grid, store, stoppable, end_timeout);
}

}  // namespace espalier::runtime
